// The fields of Kubernetes and its extensions as types. The test writes every rendered object as a value of its type, and the compiler
// rejects unknown fields, missing fields and wrong values.
//
// Most come from npm packages generated from the projects' own definitions. The others are below, each with its release.
import type { IHTTPRoute } from "@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1";
import type { IScaledObject } from "@kubernetes-models/keda/keda.sh/v1alpha1";
import type {
  IPodMonitor,
  IServiceMonitor,
} from "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1";
import type { IDeployment } from "kubernetes-models/apps/v1";
import type { IHorizontalPodAutoscaler } from "kubernetes-models/autoscaling/v2";
import type { IIngress, INetworkPolicy } from "kubernetes-models/networking.k8s.io/v1";
import type { IPodDisruptionBudget } from "kubernetes-models/policy/v1";
import type { IRole, IRoleBinding } from "kubernetes-models/rbac.authorization.k8s.io/v1";
import type {
  IConfigMap,
  IContainer,
  IPersistentVolumeClaim,
  IPod,
  IPodSpec,
  IService,
  IServiceAccount,
} from "kubernetes-models/v1";

type Metadata = NonNullable<IPod["metadata"]>;

/** By `apiVersion kind`. */
export interface Published {
  "apps/v1 Deployment": IDeployment;
  "autoscaling/v2 HorizontalPodAutoscaler": IHorizontalPodAutoscaler;
  "gateway.networking.k8s.io/v1 HTTPRoute": IHTTPRoute;
  "inference.networking.k8s.io/v1 InferencePool": InferencePool;
  "keda.sh/v1alpha1 ScaledObject": IScaledObject;
  "leaderworkerset.x-k8s.io/v1 LeaderWorkerSet": LeaderWorkerSet;
  "llm-d.ai/v1alpha1 EndpointPickerConfig": EndpointPickerConfig;
  "llm-d.ai/v1alpha2 InferenceObjective": InferenceObjective;
  "monitoring.coreos.com/v1 PodMonitor": IPodMonitor;
  "monitoring.coreos.com/v1 ServiceMonitor": IServiceMonitor;
  "networking.k8s.io/v1 Ingress": IIngress;
  "networking.k8s.io/v1 NetworkPolicy": INetworkPolicy;
  "policy/v1 PodDisruptionBudget": IPodDisruptionBudget;
  "rbac.authorization.k8s.io/v1 Role": IRole;
  "rbac.authorization.k8s.io/v1 RoleBinding": IRoleBinding;
  "serving.knative.dev/v1 Service": KnativeService;
  "serving.kserve.io/v1alpha2 LLMInferenceService": LlmInferenceService;
  "serving.kserve.io/v1beta1 InferenceService": InferenceService;
  "v1 ConfigMap": IConfigMap;
  "v1 PersistentVolumeClaim": IPersistentVolumeClaim;
  "v1 Service": IService;
  "v1 ServiceAccount": IServiceAccount;
}

/** Gateway API Inference Extension v1.6.0. */
interface InferencePool {
  apiVersion: "inference.networking.k8s.io/v1";
  kind: "InferencePool";
  metadata: Metadata;
  spec: {
    selector: { matchLabels: Record<string, string> };
    targetPorts: { number: number }[];
    appProtocol?: "http" | "kubernetes.io/h2c";
    endpointPickerRef?: {
      group?: string;
      kind?: string;
      name: string;
      /** Required if kind is Service, the default. */
      port: { number: number };
      failureMode?: "FailOpen" | "FailClose";
    };
  };
}

/** llm-d-router v0.10.0. */
interface InferenceObjective {
  apiVersion: "llm-d.ai/v1alpha2";
  kind: "InferenceObjective";
  metadata: Metadata;
  spec: { priority?: number; poolRef: { group?: string; kind?: string; name: string } };
}

/** The picker's configuration file, llm-d-router v0.10.0: the plugins that the chart uses, with their parameters. */
interface EndpointPickerConfig {
  apiVersion: "llm-d.ai/v1alpha1";
  kind: "EndpointPickerConfig";
  plugins: (
    | { type: "queue-scorer" | "kv-cache-utilization-scorer" | "max-score-picker" | "metrics-data-source" }
    | { type: "prefix-cache-scorer"; parameters?: { prefixMatchInfoProducerName?: string } }
    | { type: "core-metrics-extractor"; parameters?: CoreMetricsExtractor }
    | { type: "session-affinity-scorer"; parameters?: SessionAffinity }
    | { type: "endpoint-notification-source" }
    | {
        type: "token-producer";
        parameters: { modelName: string; vllm: { url: string; timeout?: string } };
      }
    | {
        type: "precise-prefix-cache-producer";
        parameters?: { tokenProcessorConfig?: { blockSize: number } };
      }
  )[];
  dataLayer?: { sources: { pluginRef: string; extractors: { pluginRef: string }[] }[] };
  schedulingProfiles: { name: string; plugins: { pluginRef: string; weight?: number }[] }[];
}

interface CoreMetricsExtractor {
  engineLabelKey?: string;
  defaultEngine?: string;
  engineConfigs?: {
    name: string;
    queuedRequestsSpec?: string;
    runningRequestsSpec?: string;
    kvUsageSpec?: string;
    loraSpec?: string;
    cacheInfoSpec?: string;
  }[];
}

interface SessionAffinity {
  strategy: "session_id";
  sessionIdConfig: { sources: { header: string }[]; evictionTtlSeconds?: number };
}

/** LeaderWorkerSet v0.10.0. */
interface LeaderWorkerSet {
  apiVersion: "leaderworkerset.x-k8s.io/v1";
  kind: "LeaderWorkerSet";
  metadata: Metadata;
  spec: {
    replicas?: number;
    startupPolicy?: "LeaderCreated" | "LeaderReady";
    rolloutStrategy?: {
      type: "RollingUpdate";
      rollingUpdateConfiguration?: { maxSurge?: number; maxUnavailable?: number; partition?: number };
    };
    networkConfig?: { subdomainPolicy: "Shared" | "UniquePerReplica" };
    leaderWorkerTemplate: {
      size?: number;
      restartPolicy?: "RecreateGroupOnPodRestart" | "RecreateGroupAfterStart" | "None";
      leaderTemplate?: { metadata?: Metadata; spec: IPodSpec };
      workerTemplate: { metadata?: Metadata; spec: IPodSpec };
    };
  };
}

/** The fields of a container that Knative Serving v1.23.0 accepts; it rejects all others. */
type KnativeContainer = Pick<
  IContainer,
  | "args"
  | "command"
  | "env"
  | "envFrom"
  | "image"
  | "imagePullPolicy"
  | "livenessProbe"
  | "name"
  | "ports"
  | "readinessProbe"
  | "resources"
  | "securityContext"
  | "startupProbe"
  | "volumeMounts"
>;

/** The fields of a pod that it accepts. Those after the first line need their feature flag (`config-features`). */
type KnativePod = Pick<
  IPodSpec,
  | "automountServiceAccountToken"
  | "enableServiceLinks"
  | "imagePullSecrets"
  | "serviceAccountName"
  | "affinity"
  | "nodeSelector"
  | "priorityClassName"
  | "securityContext"
  | "tolerations"
  | "topologySpreadConstraints"
  | "volumes"
>;

interface KnativeService {
  apiVersion: "serving.knative.dev/v1";
  kind: "Service";
  metadata: Metadata;
  spec: {
    template: {
      metadata?: Metadata;
      spec: KnativePod & {
        containers: KnativeContainer[];
        initContainers?: KnativeContainer[];
        containerConcurrency?: number;
        idleTimeoutSeconds?: number;
        responseStartTimeoutSeconds?: number;
        timeoutSeconds?: number;
      };
    };
  };
}

/** KServe v0.20.0. A predictor is a pod with some more fields. */
interface InferenceService {
  apiVersion: "serving.kserve.io/v1beta1";
  kind: "InferenceService";
  metadata: Metadata;
  spec: {
    predictor: Omit<IPodSpec, "resources" | "resourceClaims"> & {
      annotations?: Record<string, string>;
      labels?: Record<string, string>;
      containerConcurrency?: number;
      minReplicas?: number;
      maxReplicas?: number;
      scaleMetric?: "cpu" | "memory" | "concurrency" | "rps";
      scaleTarget?: number;
      timeout?: number;
    };
  };
}

/** KServe v0.20.0. */
interface LlmInferenceService {
  apiVersion: "serving.kserve.io/v1alpha2";
  kind: "LLMInferenceService";
  metadata: Metadata;
  spec: {
    model: { uri: string; name?: string };
    storageInitializer?: { enabled?: boolean };
    replicas?: number;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    router?: {
      gateway?: Record<string, never>;
      route?: Record<string, never>;
      scheduler?: { config?: { inline: EndpointPickerConfig } };
    };
    template?: IPodSpec;
  };
}
