// SPDX-License-Identifier: BSD-3-Clause
// Tables explain their columns, name plans by letters, and fit the width of a terminal.
#include <gtest/gtest.h>

#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/report/plan_list.hpp>
#include <rafter/report/table.hpp>
#include <rafter/schedule/contraction_keys.hpp>
#include <rafter/schedule/plan.hpp>

namespace rafter::report {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::size_t longest_line(const std::string& text) {
  std::size_t result = 0;
  for (const auto& line : base::split(text, '\n')) result = std::max(result, text_width(line));
  return result;
}

TEST(Table, AlignsItsColumnsAndSaysWhatTheyAre) {
  const std::vector<Column> columns{{"a", "of things"}, {"value", "in m", Align::right}};
  const Rows rows{{"long name", "1"}, {"\u00fc", "12345678"}};
  EXPECT_EQ(format_table(columns, rows), "a             value\n"
                                         "long name         1\n"
                                         "\u00fc          12345678\n"
                                         "  a: of things; value: in m\n");
}

TEST(Table, NoColumnIsWithoutMeaning) {
  EXPECT_THROW(Column("MDoF/s", ""), base::InternalError);
  EXPECT_THROW(Column("", "of things"), base::InternalError);
}

TEST(Table, RowsWithoutACellPerColumnAreRefused) {
  const std::vector<Column> columns{{"a", "of things"}, {"value", "in m"}};
  EXPECT_THROW((void)format_table(columns, Rows{{"1"}}), base::InternalError);
  EXPECT_THROW((void)format_table(columns, Rows{{"1", "2", "3"}}), base::InternalError);
}

TEST(Table, LongLegendsTakeALinePerColumnAndFitTheLine) {
  std::string meaning = "of";
  for (int i = 0; i < 40; ++i) meaning += " things";
  const std::vector<Column> columns{{"a", meaning}, {"value", "in m"}};
  const auto legend = format_legend(columns);
  EXPECT_LE(longest_line(legend), line_width);
  EXPECT_NE(legend.find("  a      of things"), std::string::npos) << legend;
  EXPECT_NE(legend.find("\n  value  in m\n"), std::string::npos) << legend;
  EXPECT_NE(legend.find("\n         things"), std::string::npos) << legend;
}

TEST(Table, WrappedWordsStayInOrderAndLongOnesWhole) {
  const std::string word(2 * line_width, 'x');
  EXPECT_EQ(wrapped("  - ", "one two"), "  - one two\n");
  EXPECT_EQ(wrapped("  - ", "one " + word + " two"), "  - one\n    " + word + "\n    two\n");
}

TEST(PlanList, EqualPlansHaveOneLetter) {
  PlanList plans;
  EXPECT_EQ(plans.text(), "");
  const auto other = schedule::parse_plan("vector_width=4");
  EXPECT_EQ(plans.label({}, "cell prism affine"), "A");
  EXPECT_EQ(plans.label(other), "B");
  EXPECT_EQ(plans.label({}, "cell tetrahedron affine"), "A");
  EXPECT_EQ(plans.label({}, "cell prism affine"), "A");
  const auto text = plans.text();
  EXPECT_NE(text.find("  A  default (cell prism affine, cell tetrahedron affine)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  B  vector_width=4\n"), std::string::npos) << text;
  EXPECT_LE(longest_line(text), line_width);
}

TEST(PlanList, LettersGoOnBehindTheAlphabet) {
  PlanList plans;
  std::vector<std::string> labels;
  for (int i = 0; i < 27; ++i) labels.push_back(plans.label(schedule::Plan().set(schedule::key::unroll, i)));
  EXPECT_EQ(labels[25], "Z");
  EXPECT_EQ(labels[26], "AA");
}

TEST(PlanList, TheTextBelowReplaysThePlan) {
  const auto plan = schedule::parse_plan("contraction=dense mapping=plain rows=3 compiler=/usr/bin/clang-14");
  PlanList plans;
  (void)plans.label(plan);
  const auto text = plans.text();
  const auto begin = text.find("--plan \"") + 8, end = text.rfind('"');
  EXPECT_EQ(schedule::parse_plan(text.substr(begin, end - begin)), plan) << text;
}

} // namespace
} // namespace rafter::report
