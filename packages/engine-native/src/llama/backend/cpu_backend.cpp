// The part of backend.h that calls functions of ggml's CPU backend. It gets them from ggml's registry, because a build for all
// processors loads that backend at run time and is not linked to it.
#include "base/result.h"
#include "llama/backend/backend.h"

#include "ggml-backend.h"

namespace llama {

namespace {

template <class Function>
Function* cpu_function(const char* name) {
    ggml_backend_reg_t cpu = ggml_backend_reg_by_name("CPU");
    INGLE_ASSERT(cpu != nullptr);
    void* function = ggml_backend_reg_get_proc_address(cpu, name);
    INGLE_ASSERT(function != nullptr);
    return reinterpret_cast<Function*>(function);
}

} // namespace

ThreadpoolPtr make_threadpool(int32_t threads, const process::ThreadPlacement& placement) {
    ggml_threadpool_params params = ggml_threadpool_params_default(threads);
    for (const int32_t cpu : placement.cpus) {
        if (cpu >= 0 && cpu < GGML_MAX_N_THREADS) params.cpumask[cpu] = true;
    }
    params.strict_cpu = placement.is_strict;
    params.prio = static_cast<ggml_sched_priority>(placement.priority);
    // Created paused, so that ggml places the thread that first computes (the engine's) and not this one, which only creates the
    // pool.
    params.paused = !placement.cpus.empty() || placement.priority != 0;
    return {cpu_function<decltype(ggml_threadpool_new)>("ggml_threadpool_new")(&params),
            cpu_function<decltype(ggml_threadpool_free)>("ggml_threadpool_free")};
}

void set_threadpool(ggml_backend_t backend, ggml_threadpool* pool, int32_t threads) {
    cpu_function<decltype(ggml_backend_cpu_set_n_threads)>("ggml_backend_set_n_threads")(backend, threads);
    cpu_function<decltype(ggml_backend_cpu_set_threadpool)>("ggml_backend_cpu_set_threadpool")(backend, pool);
}

const ggml_type_traits_cpu& cpu_type_traits(ggml_type type) {
#ifdef INGLE_LOADS_BACKENDS
    return *cpu_function<decltype(ggml_get_type_traits_cpu)>("ggml_get_type_traits_cpu")(type);
#else
    return *ggml_get_type_traits_cpu(type); // in the registry only because of our patch 0023
#endif
}

} // namespace llama
