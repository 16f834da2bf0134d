// SPDX-License-Identifier: BSD-3-Clause
// A plan is a value that is printed as one line and read back; messages about mistakes say what is accepted.
#include <gtest/gtest.h>

#include <set>

#include <rafter/base/error.hpp>
#include <rafter/schedule/cell_per_item.hpp>
#include <rafter/schedule/contraction_keys.hpp>
#include <rafter/schedule/mapping.hpp>
#include <rafter/schedule/mapping_keys.hpp>
#include <rafter/schedule/matrix_product.hpp>
#include <rafter/schedule/plan.hpp>

namespace rafter::schedule {
namespace {

using kernel::Contraction;
using kernel::FactorStorage;

std::string refusal(const std::string& text) {
  try {
    (void)parse_plan(text);
  } catch (const base::InputError& error) {
    return error.what();
  }
  return "";
}

void expect_refused(const std::string& text, const std::vector<std::string>& parts) {
  const std::string message = refusal(text);
  for (const auto& part : parts) EXPECT_NE(message.find(part), std::string::npos) << text << ": '" << message << "'";
}

TEST(Plan, ScatterIsPrintedWithCellPerItemAlone) {
  Plan plan;
  plan.set(key::mapping, mapping_named("cell_per_item")).set(key::vector_width, 1).set(key::scatter, Scatter::coloured);
  EXPECT_NE(to_string(plan).find(" scatter=coloured "), std::string::npos);
  EXPECT_EQ(parse_plan(to_string(plan)), plan);
  EXPECT_EQ(short_name(plan), "mapping=cell_per_item scatter=coloured");
  EXPECT_EQ(parse_plan(short_name(plan)), plan);
  plan.set(key::prefetch, false); // hosts alone have it
  EXPECT_EQ(short_name(plan), "mapping=cell_per_item scatter=coloured");
  plan.set(key::mapping, mapping_named("simd_cells"));
  EXPECT_EQ(to_string(plan).find("scatter"), std::string::npos);
  expect_refused("scatter=colored", {"coloured"});
}

TEST(Plan, EveryPlanIsParsedBackFromItsText) {
  int count = 0;
  for (const auto contraction : {Contraction::dense, Contraction::modal, Contraction::per_derivative,
                                 Contraction::collocated, Contraction::separable, Contraction::slice_wise})
    for (const auto& factors :
         {FactorStorage::recompute, FactorStorage::recompute_merged, FactorStorage::store, FactorStorage::store_merged,
          FactorStorage{FactorStorage::Kind::partial, false, 12}, FactorStorage{FactorStorage::Kind::partial, true, 1}})
      for (const auto& mapping : mapping_names())
        for (const int vector_width : {1, 2, 4, 8, 16})
          for (const int even_odd : {0, 4, 27})
            for (const char* compiler : {"", "gcc", "/usr/bin/clang-14"}) {
              const auto single_if = [](bool is_single) {
                return is_single ? Precision::single_precision : Precision::double_precision;
              };
              const auto storage = single_if(even_odd == 4), compute = single_if(vector_width == 2),
                         accumulate = single_if(vector_width == 2 && even_odd == 0);
              const char* flags = vector_width == 8 ? "O2" : "";
              const int subbatches = even_odd == 4 ? std::min(vector_width, 8) : 1;
              Plan plan;
              plan.set(key::contraction, contraction).set(key::factors, factors);
              plan.set(key::mapping, mapping_named(mapping)).set(key::vector_width, vector_width);
              plan.set(key::even_odd, even_odd).set(key::rows, even_odd + 1).set(key::unroll, 3 * even_odd);
              plan.set(key::subbatches, subbatches).set(key::patches, vector_width > 2);
              plan.set(key::indices, vector_width == 4 ? Indices::dofs : Indices::runs);
              plan.set(key::gathers, even_odd > 0 ? Gathers::scalar : Gathers::vector);
              plan.set(key::prefetch, vector_width % 4 == 0);
              plan.set(key::stores, vector_width == 8 ? Stores::streaming : Stores::cached);
              plan.set(key::storage, storage).set(key::compute, compute).set(key::accumulate, accumulate);
              plan.set(key::compiler, compiler).set(key::flags, flags);
              const std::string text = to_string(plan);
              EXPECT_EQ(parse_plan(text), without_unused_keys(plan)) << text;
              EXPECT_EQ(text.find('\n'), std::string::npos);
              ++count;
            }
  EXPECT_EQ(count, 6 * 6 * 5 * 3 * 3 * static_cast<int>(mappings().size()));
}

TEST(Plan, EveryStorageOfFactorsHasANumberOfItsOwn) {
  using Key = KeyOf<FactorStorage>;
  std::set<int> numbers;
  for (const char* text : {"recompute", "recompute-merged", "store", "store-merged", "store-law", "store-merged-law",
                           "partial-1", "partial-1-merged", "partial-1-law", "partial-1-merged-law", "partial-999"}) {
    const auto factors = *kernel::parse_factor_storage(text);
    EXPECT_EQ(Key::value(Key::number(factors)), factors) << text;
    EXPECT_TRUE(numbers.insert(Key::number(factors)).second) << text;
  }
}

TEST(Plan, AbsentKeysKeepTheirDefault) {
  EXPECT_EQ(parse_plan(""), Plan{});
  EXPECT_EQ(parse_plan("  \n"), Plan{});
  Plan plan;
  plan.set(key::vector_width, 4);
  EXPECT_EQ(parse_plan("vector_width=4"), plan);
  plan.set(key::mapping, mapping_named("plain"));
  EXPECT_EQ(parse_plan("  mapping=plain   vector_width=4 "), plan);
  EXPECT_EQ(parse_plan("\tmapping=plain\r\n\tvector_width=4\n"), plan);
}

TEST(Plan, ShortNameIsWhatDiffersFromTheDefault) {
  EXPECT_EQ(short_name(Plan{}), "default");
  EXPECT_EQ(parse_plan("default"), Plan{});
  EXPECT_EQ(short_name(parse_plan("flags=O2 vector_width=4 factors=recompute")),
            "factors=recompute vector_width=4 flags=O2");
  EXPECT_EQ(short_name(parse_plan("contraction=dense rows=8 even_odd=0")), "contraction=dense rows=8");
  EXPECT_EQ(short_name(parse_plan("even_odd=0 rows=8 subbatches=2 unroll=0")), "even_odd=0");
  EXPECT_EQ(short_name(parse_plan("gathers=scalar indices=dofs")), "indices=dofs gathers=scalar");
  EXPECT_EQ(short_name(parse_plan("mapping=plain gathers=scalar indices=dofs")), "mapping=plain");
  EXPECT_EQ(short_name(parse_plan("mapping=plain prefetch=0 stores=streaming patches=0")), "mapping=plain");
  EXPECT_EQ(short_name(parse_plan("compute=float")), "compute=float");
  EXPECT_EQ(short_name(parse_plan("compute=float vector_width=8")), "vector_width=8 compute=float");
}

TEST(Plan, PlansThatDifferHaveDifferentNamesInATable) {
  // The key `rows` matters to dense products only, so that other plans have it in their name only if nothing else
  // distinguishes them.
  const std::vector<Plan> plans{Plan{}, parse_plan("rows=8"), parse_plan("vector_width=4 rows=8"), parse_plan("rows=8"),
                                Plan{}};
  EXPECT_EQ(short_names(plans), (std::vector<std::string>{"default", "rows=8", "vector_width=4", "rows=8", "default"}));
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const auto names = short_names(plans);
    for (std::size_t k = 0; k < i; ++k) EXPECT_EQ(names[i] == names[k], plans[i] == plans[k]) << names[i];
  }
}

TEST(Plan, LanesThatAreNotGivenFillSixtyFourBytes) {
  EXPECT_EQ(parse_plan("compute=double")[key::vector_width], 8);
  EXPECT_EQ(parse_plan("compute=float")[key::vector_width], 16);
  EXPECT_EQ(parse_plan("vector_width=4 compute=float")[key::vector_width], 4);
  EXPECT_EQ(parse_plan("storage=float")[key::vector_width], 8);
}

TEST(Plan, SumsInFloatsNeedAddendsInFloats) {
  EXPECT_EQ(parse_plan("accumulate=float compute=float")[key::accumulate], Precision::single_precision);
  for (const char* text : {"accumulate=float", "accumulate=float storage=float", "compute=double accumulate=float"})
    expect_refused(text, {"accumulate=float needs compute=float"});
}

TEST(Plan, SingleKeysAreThoseInFloats) {
  EXPECT_EQ(single_keys(Plan{}), "");
  const auto plan = parse_plan("compute=float storage=float vector_width=4");
  EXPECT_EQ(single_keys(plan), "storage=float compute=float");
  EXPECT_EQ(in_double(plan), parse_plan("vector_width=4"));
}

TEST(Plan, MisspeltNamesAreRefusedWithTheNearest) {
  expect_refused("factros=store", {"unknown key 'factros'", "did you mean 'factors'?", "contraction, factors"});
  expect_refused("flags=O3", {"unknown flags 'O3'", "did you mean 'O2'?", "default, O2"});
  expect_refused("compute=half", {"unknown compute 'half'", "double, float"});
  expect_refused("storage=single", {"unknown storage 'single'", "double, float"});
  expect_refused("factors=stor", {"unknown factors 'stor'", "did you mean 'store'?", "store-merged"});
  for (const char* factors : {"partial", "partial-", "partial-0", "partial--1", "partial-01", "partial-1000",
                              "partial-1x", "recompute-law", "store-law-merged"})
    expect_refused(std::string("factors=") + factors, {"unknown factors", factors, "partial-N, partial-N-merged"});
  expect_refused("contraction=colocated", {"unknown contraction 'colocated'", "did you mean 'collocated'?"});
  expect_refused("contraction=slices", {"unknown contraction 'slices'", "cell-matrices, slice-wise"});
  expect_refused("gathers=scalars", {"unknown gathers 'scalars'", "did you mean 'scalar'?", "vector, scalar"});
  expect_refused("indices=dof", {"unknown indices 'dof'", "did you mean 'dofs'?", "runs, dofs"});
  expect_refused("mapping=simd_cell", {"unknown mapping 'simd_cell'", "did you mean 'simd_cells'?", "plain"});
}

TEST(Plan, ValuesOutOfRangeAreRefusedWithTheRange) {
  expect_refused("vector_width=0", {"vector_width = 0", "1 to 16"});
  expect_refused("vector_width=32", {"vector_width = 32", "1 to 16"});
  expect_refused("vector_width=3", {"vector_width = 3", "power of two"});
  expect_refused("subbatches=0", {"subbatches = 0", "1 to 8"});
  expect_refused("subbatches=16", {"subbatches = 16", "1 to 8"});
  expect_refused("subbatches=6", {"subbatches = 6", "power of two"});
  expect_refused("subbatches=two", {"plan: subbatches: 'two' is not an integer", "1 to 8"});
  expect_refused("group=2", {"'group'", "subbatches"});
  expect_refused("even_odd=-1", {"even_odd = -1", "0 to 64"});
  expect_refused("even_odd=99999999999999999999", {"plan: even_odd:", "99999999999999999999", "0 to 64"});
  expect_refused("vector_width=eight", {"plan: vector_width: 'eight' is not an integer", "1 to 16"});
  expect_refused("vector_width=0x8", {"plan: vector_width: '0x8' is not an integer", "1 to 16"});
  expect_refused("vector_width=", {"plan: vector_width: '' is not an integer"});
  expect_refused("prefetch=2", {"prefetch = 2", "0 to 1"});
  expect_refused("patches=-1", {"patches = -1", "0 to 1"});
  expect_refused("vector_width=4.0", {"'4.0' is not an integer"});
}

TEST(Plan, MatricesMultiplyInDoubles) {
  EXPECT_TRUE(is_assembled(parse_plan("mapping=assembled storage=float")));
  EXPECT_EQ(parse_plan(to_string(parse_plan("mapping=assembled vector_width=4"))),
            parse_plan("vector_width=4 mapping=assembled"));
  expect_refused("mapping=assembled compute=float", {"compute=float", "mapping=assembled", "storage=float"});
  expect_refused("mapping=asembled", {"unknown mapping 'asembled'", "did you mean 'assembled'?"});
}

TEST(Plan, WordsWithoutAnEqualsSignAreRefused) {
  expect_refused("simd_cells", {"'simd_cells' is not of the form key=value", "mapping"});
  expect_refused("vector_width = 4", {"'vector_width' is not of the form key=value"});
}

TEST(Plan, CompilersWithControlCharactersAreRefused) {
  for (const char c : {'\0', '\v', '\x1b', '\x7f'})
    expect_refused("compiler=gc" + std::string(1, c) + "c", {"compiler", "control character"});
}

TEST(Plan, EmptyValuesAreRefused) {
  expect_refused("compiler=", {"plan: compiler is empty", "default"});
  for (const char* key : {"flags", "factors", "mapping", "storage"})
    expect_refused(std::string(key) + "=", {"plan: unknown", key, "''"});
}

TEST(Plan, AKeyGivenTwiceIsRefused) {
  expect_refused("vector_width=4 factors=store vector_width=8", {"vector_width", "twice"});
}

} // namespace
} // namespace rafter::schedule
