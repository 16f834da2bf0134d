// SPDX-License-Identifier: BSD-3-Clause
// Ranks that do not fit a mesh are refused, and so are operations that a part of a mesh does not support.
#include <gtest/gtest.h>

#include <string>

#include <rafter/base/error.hpp>

#include <tests/support/rank_meshes.hpp>

namespace rafter::test {
namespace {

mesh::Mesh line() { return mesh::make_box({.cells = {4}, .size = {1}, .shape = "interval"}); }

std::string message_of(const mesh::CellRanks& ranks) {
  const auto mesh = line();
  (void)mesh.topology();
  try {
    comm::run_in_process(2, [&](const Process& process) { (void)mesh::local_part(mesh, ranks, process); });
  } catch (const base::InputError& error) {
    return error.what();
  }
  return "no error";
}

void expect_part(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(LocalPartInput, RanksMustFitTheMesh) {
  EXPECT_EQ(message_of({{0, 0, 1, 1}}), "no error");
  expect_part(message_of({}), "ranks are given for 0 groups of cells out of 1");
  expect_part(message_of({{0, 1, 1}}), "3 ranks are given for the 4 cells of group 0");
  expect_part(message_of({{0, 1, 2, 1}}), "has rank 2; there are processes 0 to 1");
  expect_part(message_of({{0, 1, -1, 1}}), "has rank -1");
  expect_part(message_of({{0, 0, 0, 0}}), "process 1 of 2 has no cell: use fewer processes");
}

TEST(LocalPartInput, WholeMeshesAreRefinedIdentifiedAndDistributed) {
  const auto mesh = line();
  (void)mesh.topology();
  comm::run_in_process(2, [&](const Process& process) {
    const mesh::CellRanks ranks{{0, 0, 1, 1}};
    const auto part = mesh::local_part(mesh, ranks, process);
    EXPECT_THROW((void)part.refined(), base::InputError);
    EXPECT_THROW((void)part.periodic({{.from = {"xmin"}, .to = {"xmax"}}}), base::InputError);
    EXPECT_THROW((void)mesh::local_part(part, ranks, process), base::InputError);
    EXPECT_EQ(part.refined(0).num_cells(), 2);
  });
}

} // namespace
} // namespace rafter::test
