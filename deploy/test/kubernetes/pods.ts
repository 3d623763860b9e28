// Finds the pods in a release's objects: each kind of object has them in a different place.
import { z } from "zod";
import type { KubernetesObject } from "./helm.ts";

const Labels = z.record(z.string(), z.string());
const Port = z.union([z.number(), z.string()]);
const SecurityProfile = z.object({ type: z.string() });

const Probe = z.object({
  httpGet: z.object({ path: z.string(), port: Port }).optional(),
  grpc: z.object({ port: Port }).optional(),
});

const Container = z.object({
  name: z.string(),
  command: z.array(z.string()).default([]),
  args: z.array(z.string()).default([]),
  env: z.array(z.object({ name: z.string(), value: z.string().optional() })).default([]),
  ports: z.array(z.object({ name: z.string().optional(), containerPort: z.number() })).default([]),
  volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string() })).default([]),
  startupProbe: Probe.optional(),
  readinessProbe: Probe.optional(),
  livenessProbe: Probe.optional(),
  lifecycle: z.object({ preStop: z.object({ exec: z.object({ command: z.array(z.string()) }) }) }).optional(),
  securityContext: z.object({
    allowPrivilegeEscalation: z.boolean().optional(),
    readOnlyRootFilesystem: z.boolean().optional(),
    runAsNonRoot: z.boolean().optional(),
    capabilities: z.object({ drop: z.array(z.string()) }).optional(),
    seccompProfile: SecurityProfile.optional(),
  }),
});
export type Container = z.infer<typeof Container>;

const PodSpec = z.object({
  containers: z.array(Container),
  initContainers: z.array(Container).default([]),
  volumes: z
    .array(z.object({ name: z.string(), configMap: z.object({ name: z.string() }).optional() }))
    .default([]),
  securityContext: z
    .object({ runAsNonRoot: z.boolean().optional(), seccompProfile: SecurityProfile.optional() })
    .optional(),
  terminationGracePeriodSeconds: z.number().optional(),
  /** The time limit of a Knative pod's requests, which is also its grace period. */
  timeoutSeconds: z.number().optional(),
});

const Template = z.object({ metadata: z.object({ labels: Labels }), spec: PodSpec });

export interface Pod {
  readonly spec: z.infer<typeof PodSpec>;
  readonly labels: Record<string, string>;
}

/** The pods that an object creates. */
export function createdPods({ apiVersion, kind, metadata, spec }: KubernetesObject): Pod[] {
  switch (`${apiVersion} ${kind}`) {
    case "apps/v1 Deployment":
    case "serving.knative.dev/v1 Service":
      return [templated(z.object({ template: Template }).parse(spec).template)];
    case "serving.kserve.io/v1beta1 InferenceService": {
      const { predictor } = z.object({ predictor: PodSpec.extend({ labels: Labels }) }).parse(spec);
      return [{ spec: predictor, labels: predictor.labels }];
    }
    case "serving.kserve.io/v1alpha2 LLMInferenceService": {
      const { template, labels } = z.object({ template: PodSpec, labels: Labels }).parse(spec);
      return [{ spec: template, labels: { ...labels, ...kserveLabels(metadata.name) } }];
    }
    case "leaderworkerset.x-k8s.io/v1 LeaderWorkerSet": {
      const Group = z.object({ leaderTemplate: Template, workerTemplate: Template });
      const group = z.object({ leaderWorkerTemplate: Group }).parse(spec).leaderWorkerTemplate;
      return [templated(group.leaderTemplate), templated(group.workerTemplate)];
    }
    default:
      return [];
  }
}

function templated({ metadata, spec }: z.infer<typeof Template>): Pod {
  return { spec, labels: metadata.labels };
}

/** The labels by which KServe v0.20.0 selects the pods of an LLMInferenceService. */
function kserveLabels(name: string): Record<string, string> {
  return { "app.kubernetes.io/name": name, "kserve.io/component": "workload" };
}

export function allContainers({ spec }: Pod): readonly Container[] {
  return [...spec.initContainers, ...spec.containers];
}
