// SPDX-License-Identifier: BSD-3-Clause
#include "command_line.hpp"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <bench/suites.hpp>
#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>

#include "commands.hpp"
#include "exit_code.hpp"

namespace rafter::app {
namespace {

constexpr int max_threads = 4096;
constexpr int max_refinements = 10;

/// An option whose value is left empty would have no effect, and whoever writes it means something else.
const CLI::Validator is_given(
    [](const std::string& value) {
      return base::trimmed(value).empty() ? std::string("the value is empty") : std::string();
    },
    "");

void add_problem_options(CLI::App& command, ProblemOptions& options) {
  command.add_option("problem", options.file, "problem file (TOML)")->required()->type_name("FILE");
  command.add_option("--set", options.overrides, "set a key of the problem file, as in fields.u.degree=3; repeatable")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  command
      .add_option("--device", options.device,
                  "where kernels run: host, checked, opencl, cuda, hip (opencl:1: the second one)")
      ->capture_default_str();
  command.add_option("--threads", options.threads, "threads; 0: all cores")
      ->check(CLI::Range(0, max_threads))
      ->capture_default_str()
      ->type_name("N");
}

void add_plan_option(CLI::App& command, ProblemOptions& options) {
  command
      .add_option("--plan", options.plan,
                  "plan of the cell kernels, as `rafter kernel` prints it; \"default\": all keys have theirs; "
                  "\"predicted\": the cost "
                  "model's, whatever was measured")
      ->check(is_given)
      ->type_name("TEXT");
}

/// This has the parser with the options that it sets.
class CommandLine {
public:
  CommandLine() {
    app_.require_subcommand(1);
    app_.set_version_flag("--version", "rafter " RAFTER_VERSION);
    app_.set_help_flag("-h,--help", "print this help");
    add_solve();
    add_kernel();
    add_mesh();
    add_machine();
    app_.add_subcommand("doctor", "what works on this machine, what is missing and how to get it")->callback([this] {
      code_ = run_doctor();
    });
    add_bench();
    add_tune();
  }

  int run(std::vector<std::string> arguments) {
    require_known_command(arguments);
    std::reverse(arguments.begin(), arguments.end()); // CLI11 expects them in reverse order
    try {
      app_.parse(std::move(arguments));
    } catch (const CLI::Success& question) { // CLI11 ends help and version by an exception
      app_.exit(question);
      return exit_done;
    } catch (const CLI::ParseError& error) {
      throw base::InputError(explained(error));
    }
    return code_;
  }

private:
  void add_solve() {
    auto* command = app_.add_subcommand("solve", "solve a problem");
    add_problem_options(*command, solve_.problem);
    add_plan_option(*command, solve_.problem);
    command->add_option("--json", solve_.json, "write the report as JSON; - is standard output")
        ->check(is_given)
        ->type_name("FILE");
    auto* verbose =
        command->add_flag("--verbose", solve_.is_verbose, "print also all norms and steps, legends, bounds and plans");
    command->add_flag("--quiet", solve_.is_quiet, "print nothing but errors")->excludes(verbose);
    command->callback([this] { code_ = run_solve(solve_); });
  }
  void add_kernel() {
    auto* command = app_.add_subcommand("kernel", "what was chosen for a problem's kernels, why, and what it costs");
    add_problem_options(*command, kernel_.problem);
    add_plan_option(*command, kernel_.problem);
    auto* target = command->add_option(
        "--target", kernel_.target, "record of a device (rafter machine --json) that kernels are only generated for");
    target->check(is_given)->type_name("FILE")->excludes("--device");
    auto* architecture =
        command->add_option("--architecture", kernel_.architecture,
                            "with --device cuda or hip: compile for it (sm_90, gfx90a), without a device");
    architecture->check(is_given)->type_name("NAME")->needs("--device")->excludes(target);
    auto* capability = command->add_option_function<int>(
        "--sm", [this](int number) { kernel_.architecture = "sm_" + std::to_string(number); },
        "with --device cuda: the same by the compute capability (90 for 9.0)");
    capability->check(CLI::Range(60, 999))
        ->type_name("NUMBER")
        ->needs("--device")
        ->excludes(target)
        ->excludes(architecture);
    command->add_flag("--source", kernel_.has_source, "print the generated text");
    command->add_flag("--tensor-program", kernel_.has_tensor_program, "print the tensor programs");
    command->add_flag("--schedule", kernel_.has_schedule, "print the schedules of mappings that have one");
    command->add_flag("--loop-program", kernel_.has_loop_program, "print the loop programs");
    command
        ->add_flag("--storages", kernel_.has_storages,
                   "time the operator in all ways to store it, in one table: assembled, matrices of cells, factors, "
                   "nothing")
        ->excludes(target)
        ->excludes(capability)
        ->excludes(architecture);
    const auto add_output = [&](const char* name, std::string& file, const char* text) {
      command->add_option(name, file, text)
          ->check(is_given)
          ->type_name("FILE")
          ->excludes(target)
          ->excludes(capability)
          ->excludes(architecture);
    };
    add_output("--matrix", kernel_.matrix,
               "write the operator's sparse matrix (Matrix Market; FILE.petsc: the binary format of PETSc; - is "
               "standard output)");
    add_output(
        "--cell-matrices", kernel_.cell_matrices,
        "write the matrices of the cells in the order of the mesh, shape (cell, row, column) (NumPy's .npy), and "
        "beside them (FILE-unknowns.npy) the rows of --matrix, from 0, that they belong to; meshes of several "
        "shapes make files FILE-hexahedron.npy");
    add_output("--cell-vectors", kernel_.cell_vectors,
               "write the vectors of the cells of the right-hand side, shape (cell, row), in the same way");
    command->callback([this] { code_ = run_kernel(kernel_); });
  }
  void add_mesh() {
    auto* command = app_.add_subcommand("mesh", "what is in a mesh file; refine and convert it");
    command->add_option("file", mesh_.file, "mesh (.msh, .mesh)")->required()->type_name("FILE");
    command->add_option("--merge", mesh_.read_options.merge, "nodes that are closer than this length are one")
        ->type_name("LENGTH");
    command->add_option("--refine", mesh_.refine, "uniform refinements")
        ->check(CLI::Range(0, max_refinements))
        ->type_name("N");
    command->add_option("--write", mesh_.output, "write the mesh (.msh, .mesh; - is standard output)")
        ->check(is_given)
        ->type_name("FILE");
    command
        ->add_option("--format", mesh_.format.name,
                     "of the file that is written: msh (Gmsh 4.1), msh41, msh22 (Gmsh 2.2) or mesh (MFEM); by default "
                     "its extension")
        ->type_name("NAME");
    command->add_flag("--binary", mesh_.format.is_binary, "write a binary file (Gmsh)");
    command->add_flag("--json", mesh_.is_json, "print JSON");
    command->callback([this] { code_ = run_mesh(mesh_); });
  }
  void add_machine() {
    auto* command = app_.add_subcommand("machine", "the ceilings of this machine, or of a device, measured");
    command->add_flag("--json", machine_.is_json, "print JSON");
    command
        ->add_option("--device", machine_.device,
                     "what is measured: host, opencl, cuda, hip (opencl:1: the second one)")
        ->capture_default_str()
        ->type_name("NAME");
    command->add_flag("--fresh", machine_.is_fresh, "measure again instead of using the remembered figures");
    command->callback([this] { code_ = run_machine(machine_); });
  }
  void add_bench() {
    auto* command = app_.add_subcommand("bench", "run a benchmark suite");
    command->footer([] {
      std::string text;
      for (const auto& suite : bench::suites())
        text += fmt::format("{}: {}\n{}\n", suite.name, suite.description, suite.options());
      return text;
    });
    command->add_option("suite", bench_.suite, "name of the suite; none: list them");
    command->prefix_command(); // the options that follow are those of the suite
    command->callback([this, command] {
      bench_.arguments = command->remaining();
      code_ = run_bench(bench_);
    });
  }
  void add_tune() {
    auto* command = app_.add_subcommand("tune", "measure plans for a problem's kernels and remember the best");
    add_problem_options(*command, tune_.problem);
    command->add_flag("--fresh", tune_.is_fresh, "measure again what is remembered");
    command->add_flag("--all,--exhaustive", tune_.is_exhaustive, "measure every candidate");
    command->add_flag("--cell-matrices", tune_.has_cell_matrices,
                      "measure plans of the kernels that compute matrices of cells instead");
    command
        ->add_option("--record", tune_.record,
                     "measure every candidate and write the sweep as JSON; - is standard output")
        ->check(is_given)
        ->type_name("FILE");
    command->callback([this] { code_ = run_tune(tune_); });
  }

  std::vector<std::string> command_names() const {
    std::vector<std::string> names;
    for (const auto* command : app_.get_subcommands({})) names.push_back(command->get_name());
    return names;
  }
  void require_known_command(const std::vector<std::string>& arguments) const {
    const auto names = command_names();
    const auto accepted = fmt::format("accepted: {} (see rafter --help)", base::join(names, ", "));
    if (arguments.empty()) throw base::InputError("no command given; " + accepted);
    const auto& first = arguments[0];
    if (first.starts_with("-") || std::find(names.begin(), names.end(), first) != names.end()) return;
    throw base::InputError(fmt::format("unknown command '{}'{}; {}", first, base::suggestion(first, names), accepted));
  }

  /// Returns CLI11's message, with the nearest known option for an unknown one, and where to read more.
  std::string explained(const CLI::ParseError& error) const {
    std::string text = error.what();
    std::string name = "rafter";
    for (const auto* command : app_.get_subcommands()) {
      name = command->get_name();
      std::vector<std::string> known;
      for (const auto* option : command->get_options()) known.push_back(option->get_name());
      for (const auto& word : command->remaining())
        if (word.starts_with("-")) text += base::suggestion(word.substr(0, word.find('=')), known);
    }
    return name == "rafter" ? fmt::format("{} (see rafter --help)", text)
                            : fmt::format("{}: {} (see rafter {} --help)", name, text, name);
  }

  CLI::App app_{"Rafter solves partial differential equations: a weak form and a mesh in, a solution out.", "rafter"};
  int code_ = exit_done;
  SolveOptions solve_;
  KernelOptions kernel_;
  MeshOptions mesh_;
  MachineOptions machine_;
  BenchOptions bench_;
  TuneOptions tune_;
};

} // namespace

int run_command_line(const std::vector<std::string>& arguments) { return CommandLine().run(arguments); }

} // namespace rafter::app
