#include "process/confinement.h"

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
#define INGLE_HAS_SECCOMP 1
#endif

#ifdef INGLE_HAS_SECCOMP
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace process {

namespace {

#ifdef INGLE_HAS_SECCOMP

#ifdef __x86_64__
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#else
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#endif

/// System calls with this bit belong to another ABI of x86-64, under other numbers.
constexpr uint32_t kOtherAbi = 0x40000000;

/// Calls that start programs, reach other processes, the network, mounts, namespaces or the kernel, or change the owner and the
/// rights of files. From 424 on, a call has the same number on every architecture; these are given as numbers because older headers
/// lack their names.
constexpr std::array kDenied = {
    SYS_execve,
    SYS_execveat,
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    424, // pidfd_send_signal
    434, // pidfd_open
    438, // pidfd_getfd
    SYS_connect,
    SYS_bind,
    SYS_listen,
    SYS_accept,
    SYS_accept4,
    425, // io_uring_setup, whose calls would pass this filter
    426, // io_uring_enter
    427, // io_uring_register
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    428, // open_tree
    429, // move_mount
    430, // fsopen
    431, // fsconfig
    432, // fsmount
    433, // fspick
    SYS_setns,
    SYS_unshare,
    SYS_open_by_handle_at,
    SYS_fchmod, // like the next ones, what Landlock does not restrict
    SYS_fchmodat,
    452, // fchmodat2
    SYS_fchown,
    SYS_fchownat,
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_fsetxattr,
    SYS_removexattr,
    SYS_lremovexattr,
    SYS_fremovexattr,
#ifdef __x86_64__
    SYS_chmod,
    SYS_chown,
    SYS_lchown,
#endif
    SYS_bpf,
    SYS_perf_event_open,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
};

/// Signals may only be sent to this process: both calls have the process as their first argument.
constexpr std::array kSignals = {SYS_kill, SYS_tgkill};

/// Both have the family and the type as their first arguments.
constexpr std::array kSockets = {SYS_socket, SYS_socketpair};

/// The kind in the type of a socket, which may also contain flags.
constexpr uint32_t kSocketKind = 0xf;

class SystemCallFilter {
public:
    SystemCallFilter() {
        load(offsetof(seccomp_data, arch));
        allow_only(kArchitecture);
        load(offsetof(seccomp_data, nr));
        add(BPF_JMP | BPF_JGE | BPF_K, kOtherAbi, 0, 1);
        deny();
        for (const auto call : kDenied) {
            add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, 1);
            deny();
        }
        const auto self = static_cast<uint32_t>(getpid());
        for (const auto call : kSignals) only_with_first_argument(call, self);
        for (const auto call : kSockets) only_connected_sockets(call);
        add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }

    sock_fprog program() {
        return {.len = static_cast<unsigned short>(code_.size()), .filter = code_.data()};
    }

private:
    void add(uint16_t operation, uint32_t value, uint8_t if_true = 0, uint8_t if_false = 0) {
        code_.push_back({.code = operation, .jt = if_true, .jf = if_false, .k = value});
    }

    void load(size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset)); }

    void deny() { add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM); }

    void allow_only(uint32_t value) {
        add(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0);
        deny();
    }

    /// An argument has 64 bits, of which these calls use the lower ones.
    void load_argument(size_t index) {
        load(offsetof(seccomp_data, args) + index * sizeof(seccomp_data::args[0]));
    }

    /// The number of the call is loaded before and after.
    void only_with_first_argument(long call, uint32_t value) {
        add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, 4);
        load_argument(0);
        allow_only(value);
        load(offsetof(seccomp_data, nr));
    }

    /// The same. GPU drivers talk to the kernel, and over connections to their services. Other local sockets could send to any path of the file
    /// system without being connected.
    void only_connected_sockets(long call) {
        add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, 9);
        load_argument(0);
        add(BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 6, 0);
        add(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 0, 4);
        load_argument(1);
        add(BPF_ALU | BPF_AND | BPF_K, kSocketKind);
        add(BPF_JMP | BPF_JEQ | BPF_K, SOCK_STREAM, 2, 0);
        add(BPF_JMP | BPF_JEQ | BPF_K, SOCK_SEQPACKET, 1, 0);
        deny();
        load(offsetof(seccomp_data, nr));
    }

    std::vector<sock_filter> code_;
};

#endif

} // namespace

std::vector<std::string> confine_process([[maybe_unused]] const std::string& state_file,
                                         [[maybe_unused]] const std::string& slot_dir,
                                         [[maybe_unused]] bool has_gpu) {
    std::vector<std::string> restrictions;
#ifdef INGLE_HAS_SECCOMP
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return restrictions;
    SystemCallFilter filter;
    sock_fprog program = filter.program();
    // Without SPEC_ALLOW, older kernels would slow down every load after a store.
    constexpr unsigned kFlags = SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW;
    // For all threads, which also get no_new_privs from this one.
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, kFlags, &program) != 0) return restrictions;
    restrictions.emplace_back("system calls");
    std::ranges::move(restrict_with_landlock(files_of_engine(state_file, slot_dir, has_gpu)),
                      std::back_inserter(restrictions));
#endif
    return restrictions;
}

} // namespace process
