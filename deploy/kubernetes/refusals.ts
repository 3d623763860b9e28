// Values that the chart refuses, and what it says of them.

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
    says: /workload must be one of the following: "deployment"/,
  },
  {
    name: "a setting that is misspelt",
    values: { server: { prot: 8000 } },
    says: /server: Additional property prot is not allowed/,
  },
  {
    name: "a negative number",
    values: { replicas: -1 },
    says: /replicas: Must be greater than or equal to 0/,
  },
  {
    name: "a number as a text",
    values: { server: { port: "8000" } },
    says: /server\.port: Invalid type\. Expected: integer, given: string/,
  },
  {
    name: "a privileged port",
    values: { server: { port: 80 } },
    says: /server\.port: Must be greater than or equal to 1024/,
  },
  {
    name: "bits that the KV cache does not have",
    values: { server: { kvBits: 5 } },
    says: /server\.kvBits must be one of the following: 3, 4, 8, 16/,
  },
  {
    name: "no model",
    values: { model: { name: "" } },
    says: /model\.name: String length must be greater than or equal to 1/,
  },
  {
    name: "a model's file outside the cache",
    values: { model: { file: "/tmp/tiny.gguf" } },
    says: /model\.file: Does not match pattern/,
  },
  {
    name: "an address as a host name",
    values: { server: { allowHosts: ["https://models.example"] } },
    says: /server\.allowHosts\.0: Does not match pattern/,
  },
  {
    name: "an image without a name",
    values: { image: { repository: "" } },
    says: /image\.repository: String length/,
  },
  {
    name: "a size that is no quantity",
    values: { cache: { size: "ten" } },
    says: /cache\.size: Does not match pattern/,
  },
  {
    name: "several replicas on a volume for one node",
    values: { replicas: 2 },
    says: /cache\.accessMode: ReadWriteOnce lets one node mount the cache, which several replicas share\. Take ReadWriteMany/,
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
    name: "a smallest number above the greatest",
    values: { cache: shared, autoscaling: { by: "hpa", minReplicas: 5 } },
    says: /autoscaling\.minReplicas is greater than autoscaling\.maxReplicas/,
  },
  {
    name: "no replica with a HorizontalPodAutoscaler",
    values: { cache: shared, autoscaling: { by: "hpa", minReplicas: 0 } },
    says: /autoscaling\.minReplicas: a HorizontalPodAutoscaler keeps at least 1/,
  },
  {
    name: "no replica with KEDA and nothing that could start one",
    values: { cache: shared, autoscaling: { by: "keda", minReplicas: 0 } },
    says: /autoscaling\.minReplicas: no replica means no metrics that could start one/,
  },
  {
    name: "routes to a workload that makes its own",
    values: { workload: "inferenceservice", cache: shared, ingress: { enabled: true } },
    says: /ingress, httpRoute, inferencePool: inferenceservice makes its own routes/,
  },
  {
    name: "a route of no gateway",
    values: { httpRoute: { enabled: true } },
    says: /httpRoute\.parentRefs: name the Gateway/,
  },
  {
    name: "sessions at a controller that is not named",
    values: { ingress: { enabled: true, sessionAffinity: true } },
    says: /ingress\.sessionAffinity: name the controller/,
  },
  {
    name: "a picker that could not read the metrics",
    values: { inferencePool: { enabled: true }, metrics: { public: false } },
    says: /metrics\.public: the picker sends no key/,
  },
  {
    name: "a pool with no picker",
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
    name: "a longer drain than Knative waits for",
    values: { workload: "knative", cache: shared, drain: { timeoutSeconds: 600 } },
    says: /drain\.timeoutSeconds: Knative kills a pod after knative\.timeoutSeconds/,
  },
];
