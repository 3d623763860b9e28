// Values for the chart's tests, in addition to the examples: each setting alone, and all together.

export interface Combination {
  readonly name: string;
  readonly values: object;
}

const parentRefs = [{ name: "public", namespace: "gateways" }];
const shared = { accessMode: "ReadWriteMany" };
const objectives = [
  { name: "interactive", priority: 10 },
  { name: "batch", priority: -1 },
];

const deployment: readonly Combination[] = [
  { name: "defaults", values: {} },
  { name: "model by file", values: { model: { file: "/models/tiny.gguf" } } },
  { name: "gated model", values: { model: { hubToken: { secretName: "hub" } } } },
  { name: "npm model", values: { model: { name: "npm:@org/some-model@1.0.0" } } },
  { name: "existing claim", values: { cache: { existingClaim: "weights" } } },
  { name: "storage class", values: { cache: { storageClass: "fast", size: "200Gi" } } },
  { name: "claim per pod", values: { replicas: 3, cache: { kind: "per-pod" } } },
  { name: "node's disk", values: { replicas: 3, cache: { kind: "emptydir" } } },
  { name: "replicas", values: { replicas: 3, cache: shared } },
  { name: "no keys", values: { auth: { enabled: false } } },
  { name: "admin keys", values: { auth: { secretName: "keys", adminKeysEntry: "admin-keys" } } },
  { name: "gpu", values: { gpu: { enabled: true, count: 2 }, image: { tag: "0.1.0-cuda" } } },
  { name: "no resources", values: { resources: { requests: null, limits: null } } },
  { name: "metrics with a key", values: { metrics: { public: false, vllmNames: false } } },
  {
    name: "service monitor",
    values: { metrics: { monitor: "service", monitorLabels: { release: "prometheus" } } },
  },
  { name: "pod monitor", values: { metrics: { monitor: "pod", public: false, scrapeKeyEntry: "scraper" } } },
  { name: "hpa", values: { autoscaling: { by: "hpa" }, cache: shared } },
  { name: "keda", values: { autoscaling: { by: "keda" }, cache: shared } },
  {
    name: "keda from zero",
    values: {
      cache: shared,
      autoscaling: {
        by: "keda",
        minReplicas: 0,
        keda: { extraTriggers: [{ type: "cron", metadata: { timezone: "UTC", start: "0 8 * * *" } }] },
      },
    },
  },
  { name: "disruption budget", values: { podDisruptionBudget: { enabled: true, maxUnavailable: "25%" } } },
  { name: "network policy", values: { networkPolicy: { enabled: true } } },
  { name: "open network policy", values: { networkPolicy: { enabled: true, egress: "any" } } },
  {
    name: "narrow network policy",
    values: {
      networkPolicy: {
        enabled: true,
        egress: "dns",
        from: [{ namespaceSelector: { matchLabels: { team: "chat" } } }],
      },
    },
  },
  { name: "ingress", values: { ingress: { enabled: true, host: "models.example" } } },
  {
    name: "nginx ingress",
    values: {
      ingress: {
        enabled: true,
        className: "nginx",
        host: "models.example",
        tlsSecretName: "models-tls",
        controller: "nginx",
        sessionAffinity: true,
      },
    },
  },
  {
    name: "ingress-nginx",
    values: { ingress: { enabled: true, controller: "ingress-nginx", sessionAffinity: true } },
  },
  {
    name: "http route",
    values: { httpRoute: { enabled: true, parentRefs, hostnames: ["*.models.example"] } },
  },
  { name: "inference pool", values: { inferencePool: { enabled: true, objectives } } },
  { name: "two pickers", values: { inferencePool: { enabled: true, picker: { replicas: 2 } } } },
  {
    name: "custom picker",
    values: { inferencePool: { enabled: true, picker: { enabled: false, pickerName: "epp" } } },
  },
  {
    name: "placement",
    values: {
      nodeSelector: { pool: "gpu" },
      tolerations: [{ key: "nvidia.com/gpu", operator: "Exists" }],
      affinity: { podAntiAffinity: {} },
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: "kubernetes.io/hostname", whenUnsatisfiable: "ScheduleAnyway" },
      ],
      priorityClassName: "serving",
      serviceAccountName: "models",
      podAnnotations: { note: "1" },
      podLabels: { team: "chat" },
      image: { pullSecrets: [{ name: "registry" }] },
    },
  },
  {
    name: "server settings",
    values: {
      server: {
        contextTokens: 4096,
        kvBits: 8,
        threads: 6,
        ui: true,
        allowHosts: ["models.example"],
        trustProxies: ["10.0.0.0/8"],
        extraArgs: ["--cache-ram=0"],
        extraEnv: [{ name: "HTTPS_PROXY", value: "http://proxy.example:3128" }],
      },
    },
  },
];

const platforms: readonly Combination[] = [
  { name: "knative", values: { workload: "knative", cache: shared } },
  {
    name: "knative without keys",
    values: {
      workload: "knative",
      cache: { kind: "emptydir" },
      auth: { enabled: false },
      podSecurityContext: null,
    },
  },
  { name: "inference service", values: { workload: "inferenceservice", cache: shared } },
  {
    name: "standard inference service",
    values: {
      workload: "inferenceservice",
      cache: shared,
      kserve: { deploymentMode: "Standard", minReplicas: 1 },
    },
  },
  { name: "llm inference service", values: { workload: "llminferenceservice" } },
  {
    name: "llm inference service without TLS",
    values: { workload: "llminferenceservice", replicas: 2, cache: shared, kserve: { tls: false } },
  },
  {
    name: "monitored llm inference service",
    values: { workload: "llminferenceservice", metrics: { monitor: "pod" } },
  },
];

const severalHosts: readonly Combination[] = [
  { name: "a group of hosts", values: { workload: "leaderworkerset" } },
  {
    name: "groups of many hosts",
    values: {
      workload: "leaderworkerset",
      replicas: 2,
      cache: shared,
      hosts: { size: 8, workerResources: { requests: { cpu: "7500m" } } },
      gpu: { enabled: true },
      networkPolicy: { enabled: true },
      podDisruptionBudget: { enabled: true },
      podAnnotations: { note: "1" },
    },
  },
  {
    name: "scaled groups of hosts",
    values: { workload: "leaderworkerset", cache: shared, autoscaling: { by: "keda" } },
  },
];

const kvEvents: readonly Combination[] = [
  { name: "KV events", values: { kvEvents: { enabled: true }, auth: { sharePrefixes: true } } },
  {
    name: "KV events for others",
    values: {
      kvEvents: { enabled: true },
      auth: { sharePrefixes: true },
      networkPolicy: { enabled: true, kvEventsFrom: [{ podSelector: { matchLabels: { app: "router" } } }] },
    },
  },
  {
    name: "KV events of KServe",
    values: {
      workload: "llminferenceservice",
      kvEvents: { enabled: true },
      auth: { sharePrefixes: true },
    },
  },
  {
    name: "precise picker",
    values: {
      kvEvents: { enabled: true },
      auth: { enabled: false },
      inferencePool: { enabled: true, picker: { prefix: "precise" } },
    },
  },
];

/** All settings that can be combined. */
const everything: Combination = {
  name: "everything",
  values: {
    cache: shared,
    model: { hubToken: { secretName: "hub" } },
    auth: { adminKeysEntry: "admin-keys", sharePrefixes: true },
    gpu: { enabled: true },
    metrics: { monitor: "service" },
    kvEvents: { enabled: true },
    autoscaling: { by: "keda", minReplicas: 2, maxReplicas: 16 },
    podDisruptionBudget: { enabled: true },
    networkPolicy: { enabled: true },
    ingress: { enabled: true, host: "models.example", controller: "nginx", sessionAffinity: true },
    httpRoute: { enabled: true, parentRefs },
    inferencePool: { enabled: true, objectives, picker: { replicas: 2 } },
  },
};

export const combinations: readonly Combination[] = [
  ...deployment,
  ...platforms,
  ...severalHosts,
  ...kvEvents,
  everything,
];
