// Values that the chart refuses, and their error: the chart's own text if a template refuses them, or only the setting's name if
// values.schema.json does, because the text then depends on Helm's version.

export interface Refusal {
  readonly name: string;
  readonly values: object;
  readonly says: RegExp;
}

const shared = { accessMode: "ReadWriteMany" };

export const refusals: readonly Refusal[] = [
  {
    name: "an unknown workload",
    values: { workload: "statefulset" },
    says: /\bworkload\b.*deployment/,
  },
  {
    name: "a misspelled setting",
    values: { server: { prot: 8000 } },
    says: /\bserver\b.*\bprot\b/,
  },
  {
    name: "a negative number",
    values: { replicas: -1 },
    says: /\breplicas\b/,
  },
  {
    name: "a number as a string",
    values: { server: { port: "8000" } },
    says: /\bserver[./]port\b/,
  },
  {
    name: "a privileged port",
    values: { server: { port: 80 } },
    says: /\bserver[./]port\b/,
  },
  {
    name: "an unsupported number of KV bits",
    values: { server: { kvBits: 5 } },
    says: /\bserver[./]kvBits\b/,
  },
  {
    name: "no model",
    values: { model: { name: "" } },
    says: /\bmodel[./]name\b/,
  },
  {
    name: "a model's file outside the cache",
    values: { model: { file: "/tmp/tiny.gguf" } },
    says: /\bmodel[./]file\b/,
  },
  {
    name: "an address as a host name",
    values: { server: { allowHosts: ["https://models.example"] } },
    says: /\bserver[./]allowHosts[./]0\b/,
  },
  {
    name: "an image without a name",
    values: { image: { repository: "" } },
    says: /\bimage[./]repository\b/,
  },
  {
    name: "a size that is not a quantity",
    values: { cache: { size: "ten" } },
    says: /\bcache[./]size\b/,
  },
  {
    name: "several replicas on a volume for one node",
    values: { replicas: 2 },
    says: /cache\.accessMode: ReadWriteOnce lets one node mount the cache, which several replicas share\. Use ReadWriteMany/,
  },
  {
    name: "autoscaling on a volume for one node",
    values: { autoscaling: { by: "hpa" } },
    says: /cache\.accessMode: ReadWriteOnce lets one node mount the cache/,
  },
  {
    name: "Knative on a volume for one node",
    values: { workload: "knative" },
    says: /cache\.accessMode: .* a new revision starts before the old one stops/,
  },
  {
    name: "a claim that is not shared",
    values: { cache: { existingClaim: "weights", kind: "emptydir" } },
    says: /cache\.existingClaim: with cache\.kind emptydir there is no claim to share/,
  },
  {
    name: "a file on a new volume",
    values: { model: { file: "/models/tiny.gguf" }, cache: { kind: "per-pod" } },
    says: /model\.file: a new volume holds no file/,
  },
  {
    name: "autoscaling of a workload that scales itself",
    values: { workload: "knative", cache: shared, autoscaling: { by: "keda" } },
    says: /autoscaling\.by: knative scales itself/,
  },
  {
    name: "a minimum above the maximum",
    values: { cache: shared, autoscaling: { by: "hpa", minReplicas: 5 } },
    says: /autoscaling\.minReplicas is greater than autoscaling\.maxReplicas/,
  },
  {
    name: "zero replicas with a HorizontalPodAutoscaler",
    values: { cache: shared, autoscaling: { by: "hpa", minReplicas: 0 } },
    says: /autoscaling\.minReplicas: a HorizontalPodAutoscaler keeps at least 1/,
  },
  {
    name: "zero replicas with KEDA and no trigger that could start one",
    values: { cache: shared, autoscaling: { by: "keda", minReplicas: 0 } },
    says: /autoscaling\.minReplicas: no replica means no metrics that could start one/,
  },
  {
    name: "routes to a workload that creates its own",
    values: { workload: "inferenceservice", cache: shared, ingress: { enabled: true } },
    says: /ingress, httpRoute, inferencePool: inferenceservice makes its own routes/,
  },
  {
    name: "a route without a gateway",
    values: { httpRoute: { enabled: true } },
    says: /httpRoute\.parentRefs: name the Gateway/,
  },
  {
    name: "session affinity without a named controller",
    values: { ingress: { enabled: true, sessionAffinity: true } },
    says: /ingress\.sessionAffinity: name the controller/,
  },
  {
    name: "a picker that cannot read the metrics",
    values: { inferencePool: { enabled: true }, metrics: { public: false } },
    says: /metrics\.public: the picker sends no key/,
  },
  {
    name: "a pool without a picker",
    values: { inferencePool: { enabled: true, picker: { enabled: false } } },
    says: /inferencePool\.picker\.pickerName: name the Service of your picker/,
  },
  {
    name: "a monitor without a key",
    values: { metrics: { monitor: "service", public: false } },
    says: /metrics\.scrapeKeyEntry: name the entry/,
  },
  {
    name: "a monitor of a Service that is not the chart's",
    values: { workload: "llminferenceservice", metrics: { monitor: "service" } },
    says: /metrics\.monitor: the Services of llminferenceservice are not the chart's/,
  },
  {
    name: "a second port with Knative",
    values: { workload: "knative", cache: shared, kvEvents: { enabled: true } },
    says: /kvEvents\.enabled: the pods of knative have one port/,
  },
  {
    name: "events of keys that share nothing",
    values: { kvEvents: { enabled: true } },
    says: /kvEvents\.enabled: events report what all keys share/,
  },
  {
    name: "a group of one host",
    values: { workload: "leaderworkerset", hosts: { size: 1 } },
    says: /\bhosts[./]size\b/,
  },
  {
    name: "precise prefixes without events",
    values: { inferencePool: { enabled: true, picker: { prefix: "precise" } } },
    says: /inferencePool\.picker\.prefix: the picker learns of cached prefixes by KV events/,
  },
  {
    name: "precise prefixes of a model whose id is unknown",
    values: {
      model: { name: "LiquidAI/LFM2-1.2B" },
      inferencePool: { enabled: true, picker: { prefix: "precise" } },
      kvEvents: { enabled: true },
    },
    says: /model\.name: events name the model by its id/,
  },
  {
    name: "events of a model with an @ in its id",
    values: {
      model: { name: "npm:some-model@1.0.0" },
      kvEvents: { enabled: true },
      auth: { sharePrefixes: true },
    },
    says: /kvEvents\.enabled: the topic of events ends with the model's id/,
  },
  {
    name: "precise prefixes of a server that requires keys",
    values: { inferencePool: { enabled: true, picker: { prefix: "precise" } }, kvEvents: { enabled: true } },
    says: /inferencePool\.picker\.prefix: the picker requests rendered prompts without a key/,
  },
  {
    name: "a longer drain than Knative waits for",
    values: { workload: "knative", cache: shared, drain: { timeoutSeconds: 600 } },
    says: /drain\.timeoutSeconds: Knative kills a pod after knative\.timeoutSeconds/,
  },
];
