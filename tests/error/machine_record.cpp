// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <rafter/base/error.hpp>
#include <rafter/machine/roofline.hpp>

namespace {

using namespace rafter;

std::string message(const std::string& text) {
  try {
    machine::from_json(text);
  } catch (const base::InputError& error) {
    return error.what();
  }
  return "accepted";
}

machine::Machine small() {
  machine::Machine result;
  result.peaks = {{64, {1, 1}, {1, 1}, {1, 1}, {1, 1}}};
  result.levels = {{"memory", 1, {1, 1}, {1, 1}, {1, 1}, {1, 1}}};
  return result;
}

TEST(MachineRecordErrors, EveryMissingKeyIsNamed) {
  const std::string good = machine::to_json(small());
  ASSERT_EQ(message(good), "accepted");
  for (const std::string key : {"model",
                                "vendor",
                                "cores",
                                "instruction_sets",
                                "peaks",
                                "levels",
                                "fma",
                                "add",
                                "mul",
                                "bits",
                                "name",
                                "bytes",
                                "read",
                                "triad",
                                "copy",
                                "streaming_copy",
                                "one_core",
                                "all_cores",
                                "measured_at",
                                "measured_with",
                                "streamed_bytes",
                                "steadiness",
                                "cpu_share"}) {
    std::string text = good;
    text.replace(text.find("\"" + key + "\""), key.size() + 2, "\"other\"");
    EXPECT_NE(message(text).find("'" + key + "'"), std::string::npos) << key << ": " << message(text);
  }
}

TEST(MachineRecordErrors, TruncatedWrongAndEmptyRecordsAreRefused) {
  const std::string good = machine::to_json(small());
  for (std::size_t size = 0; size + 2 < good.size(); size += 7)
    EXPECT_NE(message(good.substr(0, size)), "accepted") << size;
  auto record = small();
  record.peaks.clear();
  EXPECT_NE(message(machine::to_json(record)).find("one peak"), std::string::npos);
  record = small();
  record.cores = 0;
  EXPECT_NE(message(machine::to_json(record)).find("one core"), std::string::npos);
  for (const double rate : {-1.0, 0.0}) {
    record = small();
    record.levels[0].read.one_core = rate;
    EXPECT_NE(message(machine::to_json(record)).find("'one_core' is"), std::string::npos);
  }
}

TEST(MachineRecordErrors, NumbersThatAreNotWholeOrDoNotFitAreRefused) {
  const std::string good = machine::to_json(small());
  for (const std::string key : {"cores", "bits", "bytes", "streamed_bytes"})
    for (const std::string value :
         {"-1", "2.5", "1e300", "9223372036854775808", "18446744073709551616", "\"2\"", "null"}) {
      std::string text = good;
      const auto begin = text.find("\"" + key + "\": ") + key.size() + 4;
      text.replace(begin, text.find_first_of(",\n", begin) - begin, value);
      EXPECT_NE(message(text).find("'" + key + "' is "), std::string::npos) << key << ": " << message(text);
      EXPECT_NE(message(text).find("accepted is a whole number"), std::string::npos) << message(text);
    }
}

TEST(MachineRecordErrors, RegistersThatNoKernelIsMadeForAreRefused) {
  auto record = small();
  for (const int bits : {0, 32, 192, 1024}) {
    record.peaks[0].bits = bits;
    const auto found = message(machine::to_json(record));
    EXPECT_NE(found.find("'bits' is " + std::to_string(bits) + "; accepted are 64, 128, 256, 512"), std::string::npos)
        << found;
  }
  for (const int bits : {64, 256, 512}) {
    record.peaks[0].bits = bits;
    EXPECT_EQ(message(machine::to_json(record)), "accepted");
  }
  record.peaks = {record.peaks[0], record.peaks[0]};
  for (const int second : {256, 512}) {
    record.peaks[1].bits = second;
    EXPECT_NE(message(machine::to_json(record)).find("do not ascend"), std::string::npos) << second;
  }
}

TEST(MachineRecordErrors, MissingRatesAreOurFault) {
  EXPECT_THROW(bound({.flops = 1}, machine::Machine{}, 1), base::InternalError);
  auto record = small();
  record.peaks[0].fma = {};
  EXPECT_THROW(bound({.flops = 1}, record, 1), base::InternalError);
  EXPECT_EQ(bound({.global_bytes_read = 1}, record, 1).seconds, 1);
}

} // namespace
