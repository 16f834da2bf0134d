// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/device/host/compiler.hpp>

#include <map>
#include <mutex>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/device/host/cache_directory.hpp>
#include <rafter/device/host/compiler_versions.hpp>
#include <rafter/device/host/cpu.hpp>
#include <rafter/device/host/process.hpp>

namespace rafter::device {
namespace {

constexpr const char* advice =
    "install one ('apt install gcc' on Debian and Ubuntu, 'dnf install gcc' on Fedora) or add the folder of yours to "
    "PATH";

std::string default_compiler() {
  for (const char* name : {"gcc", "clang", "cc"})
    if (const std::string path = find_program(name); !path.empty()) return path;
  throw base::EnvironmentError(std::string("kernels need a C compiler, and neither gcc nor clang is in PATH: ") +
                               advice);
}

std::string path_of(const std::string& name) {
  if (name.empty()) return default_compiler();
  const std::string path = find_program(name);
  if (path.empty())
    throw base::EnvironmentError("the C compiler '" + name + "' cannot be found or executed: " + advice);
  return path;
}

std::string asked_version(const std::string& path) {
  const ProcessResult result = run_process({path, "--version"});
  if (!result.is_success())
    throw base::EnvironmentError("the C compiler '" + path + "' does not work: '--version' failed: " + result.output);
  return result.output.substr(0, result.output.find('\n'));
}

std::string version_of(const std::string& path) {
  const CacheDirectory directory;
  if (directory.is_private_temporary()) return asked_version(path); // nothing there outlives this process
  if (auto known = remembered_version(directory.path(), path)) return *known;
  auto version = asked_version(path);
  remember_version(directory.path(), path, version);
  return version;
}

/// Text of a command as it can be pasted into a shell.
std::string quoted(const std::vector<std::string>& command) {
  constexpr const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
  std::vector<std::string> words;
  for (const auto& word : command) {
    std::string text = "'";
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    words.push_back(word.empty() || word.find_first_not_of(plain) != std::string::npos ? text + "'" : word);
  }
  return base::join(words, " ");
}

} // namespace

std::string first_lines(const std::string& text, std::size_t max_lines) {
  std::vector<std::string> lines = base::split(text, '\n');
  while (!lines.empty() && base::trimmed(lines.back()).empty()) lines.pop_back();
  const std::size_t num_hidden = lines.size() > max_lines ? lines.size() - max_lines : 0;
  lines.resize(lines.size() - num_hidden);
  if (num_hidden > 0) lines.push_back("... (" + std::to_string(num_hidden) + " more lines)");
  return base::join(lines, "\n");
}

Compiler find_compiler(const std::string& name) {
  static std::mutex mutex;
  static std::map<std::string, std::string> versions;
  const std::string path = path_of(name);
  const std::scoped_lock lock(mutex);
  const auto known = versions.find(path);
  if (known != versions.end()) return {path, known->second};
  return {path, versions[path] = version_of(path)};
}

std::vector<std::string> available_compilers() {
  std::vector<std::string> found;
  for (const char* name : {"gcc", "clang"})
    if (!find_program(name).empty()) found.emplace_back(name);
  if (found.empty()) return {"default"};
  found.front() = "default"; // the first one found is the default
  return found;
}

const std::vector<FlagSet>& flag_sets() {
  static const std::vector<FlagSet> sets = [] {
    std::vector<FlagSet> result{
        {"default", "-O3", {}},
        {"O2", "-O2: shorter code, half the time to compile", {"-O2"}},
        {"quick", "-O1 with fused products: for kernels that run a few times", {"-O1", "-fexpensive-optimizations"}},
        {"unroll", "loops unrolled further", {"-funroll-loops"}}};
    if (has_instruction_set(cpu(), "avx2"))
      result.push_back({"avx2", "as for processors without AVX-512", {"-march=haswell", "-mprefer-vector-width=256"}});
    return result;
  }();
  return sets;
}

std::vector<std::string> flag_set_names() {
  std::vector<std::string> names;
  for (const auto& set : flag_sets()) names.push_back(set.name);
  return names;
}

namespace {

const FlagSet& flag_set(const std::string& wanted) {
  const std::string name = wanted.empty() ? "default" : wanted;
  for (const auto& set : flag_sets())
    if (set.name == name) return set;
  throw base::InputError("unknown set of compiler flags '" + name + "'" + base::suggestion(name, flag_set_names()) +
                         "; accepted: " + base::join(flag_set_names(), ", "));
}

} // namespace

std::vector<std::string> own_processor_flags() {
#if defined(__x86_64__)
  return {"-march=native", "-mprefer-vector-width=512"};
#else
  return {"-march=native"};
#endif
}

std::vector<std::string> compiler_flags(const CompileOptions& options, const std::vector<std::string>& processor) {
  std::vector<std::string> flags{"-x", "c", "-std=gnu11", "-O3"};
  flags.insert(flags.end(), processor.begin(), processor.end());
  flags.insert(flags.end(), {"-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math", "-shared", "-fPIC", "-w"});
  const auto& chosen = flag_set(options.flag_set).flags;
  flags.insert(flags.end(), chosen.begin(), chosen.end());
  flags.insert(flags.end(), options.flags.begin(), options.flags.end());
  return flags;
}

std::vector<std::string> own_flags(const Compiler& compiler) {
  // Propagating known bits of integers does not improve kernels; GCC spends a tenth to a third of its time on it. Its
  // search for loads that repeat others after registers are assigned takes a time that grows with the square of a
  // kernel's length, 84 of 115 s for one of 24 000 instructions, in which it removed one.
  if (compiler.version.starts_with("gcc")) return {"-fno-tree-bit-ccp", "-fno-gcse-after-reload"};
  return {};
}

void compile_library(const Compiler& compiler, const Compilation& compilation) {
  std::vector<std::string> command{compiler.path};
  command.insert(command.end(), compilation.flags.begin(), compilation.flags.end());
  command.insert(command.end(), {"-o", compilation.library.string(), compilation.source.string(), "-lm"});
  const ProcessResult result = run_process(command, compilation.source.parent_path().string());
  std::error_code error;
  if (result.is_success() && std::filesystem::exists(compilation.library, error)) return;
  std::filesystem::rename(compilation.source, compilation.kept_source, error);
  const std::string how = result.is_success()  ? "ended without a fault but made no library"
                          : result.signal != 0 ? "was killed by signal " + std::to_string(result.signal)
                                               : "failed with exit code " + std::to_string(result.exit_code);
  *(command.end() - 2) = compilation.kept_source.string(); // the command that the user can repeat
  *(command.end() - 3) = "/dev/null";
  throw base::EnvironmentError("the C compiler " + how + "\n  command: " + quoted(command) + "\n  source kept: " +
                               compilation.kept_source.string() + "\n" + first_lines(result.output, 20));
}

} // namespace rafter::device
