// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/plan/profile_store.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/atomic_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <sstream>

namespace zygos::plan {
namespace {

using nlohmann::json;
using schedule::TaskKind;

constexpr int format_version = 6;
constexpr std::string_view format_name = "zygos-profile";

json json_of(const Curve& curve) {
  json points = json::array();
  for (const auto& [amount, seconds] : curve.points()) {
    points.push_back({amount, seconds});
  }
  return points;
}

json json_of(const std::vector<Curve>& curves) {
  json list = json::array();
  for (const Curve& curve : curves) {
    list.push_back(json_of(curve));
  }
  return list;
}

json json_of(const std::map<TaskKind, Curve>& curves) {
  json object = json::object();
  for (const auto& [kind, curve] : curves) {
    object[std::string(schedule::name_of(kind))] = json_of(curve);
  }
  return object;
}

json json_of(const PlaceCosts& costs) {
  return {{"forward", json_of(costs.forward)},
          {"backward", json_of(costs.backward)},
          {"pass_s", costs.pass_s},
          {"tasks", json_of(costs.others)},
          {"cores", json_of(costs.core)}};
}

json json_of(const PassDifferences& differences) {
  return {{"forward", differences.forward}, {"backward", differences.backward}};
}

json json_of(const std::vector<SliceFactor>& factors) {
  json list = json::array();
  for (const SliceFactor& factor : factors) {
    list.push_back({{"node", factor.node},
                    {"kind", std::string(name_of(factor.kind))},
                    {"share", factor.share},
                    {"forward", factor.forward},
                    {"backward", factor.backward}});
  }
  return list;
}

json json_of(const Facts& facts) {
  json list = json::array();
  for (const auto& [name, value] : facts) {
    list.push_back({name, value});
  }
  return list;
}

double seconds_from(const json& value) {
  const double seconds = value.get<double>();
  if (!std::isfinite(seconds) || seconds < 0.0) {
    throw DataError("a time is not a number of seconds");
  }
  return seconds;
}

int count_from(const json& value) {
  const int count = value.get<int>();
  if (count < 0) {
    throw DataError("a number of cores or threads is negative");
  }
  return count;
}

Curve curve_from(const json& points) {
  Curve curve;
  for (const json& point : points) {
    curve.add(point.at(0).get<std::int64_t>(), seconds_from(point.at(1)));
  }
  return curve;
}

/// Seconds that are more or, below zero, less than others.
std::vector<double> differences_from(const json& list) {
  std::vector<double> differences;
  for (const json& value : list) {
    const double seconds = value.get<double>();
    differences.push_back(seconds < 0.0 ? -seconds_from(-seconds) : seconds_from(seconds));
  }
  return differences;
}

PassDifferences pass_differences_from(const json& object) {
  return {differences_from(object.at("forward")), differences_from(object.at("backward"))};
}

std::vector<Curve> curves_from(const json& list) {
  std::vector<Curve> curves;
  for (const json& points : list) {
    curves.push_back(curve_from(points));
  }
  return curves;
}

double factor_from(const json& value) {
  const double factor = value.get<double>();
  if (!std::isfinite(factor) || factor < 0.0) {
    throw DataError("a factor is not a number of 0 or more");
  }
  return factor;
}

SliceKind slice_kind_from(const std::string& name) {
  for (const SliceKind kind : all_slice_kinds) {
    if (name_of(kind) == name) {
      return kind;
    }
  }
  throw DataError("there is no kind of slice called '" + name + "'");
}

std::vector<SliceFactor> slice_factors_from(const json& list) {
  std::vector<SliceFactor> factors;
  for (const json& object : list) {
    const double share = factor_from(object.at("share"));
    if (share >= 1.0) {
      throw DataError("a slice has a share of 1 or more of its layer");
    }
    factors.push_back({object.at("node").get<std::int32_t>(),
                       slice_kind_from(object.at("kind").get<std::string>()), share,
                       factor_from(object.at("forward")), factor_from(object.at("backward"))});
  }
  return factors;
}

TaskKind kind_from(const std::string& name) {
  for (const schedule::TaskTraits& kind : schedule::all_task_kinds()) {
    if (kind.name == name) {
      return kind.kind;
    }
  }
  throw DataError("there is no kind of task called '" + name + "'");
}

std::map<TaskKind, Curve> curves_by_kind(const json& object) {
  std::map<TaskKind, Curve> curves;
  for (const auto& [name, points] : object.items()) {
    Curve curve = curve_from(points);
    if (curve.empty()) {
      throw DataError("the costs of '" + name + "' are missing");
    }
    curves.emplace(kind_from(name), std::move(curve));
  }
  return curves;
}

PlaceCosts costs_from(const json& object) {
  return {curves_from(object.at("forward")), curves_from(object.at("backward")),
          seconds_from(object.at("pass_s")), curves_by_kind(object.at("tasks")),
          curves_by_kind(object.at("cores"))};
}

Profile profile_of(const json& object) {
  Profile profile;
  profile.step_overhead_s = seconds_from(object.at("step_overhead_s"));
  profile.joint_overhead_s = seconds_from(object.at("joint_overhead_s"));
  profile.task_overhead_s = seconds_from(object.at("task_overhead_s"));
  profile.handover_s = seconds_from(object.at("handover_s"));
  profile.wake_s = seconds_from(object.at("wake_s"));
  profile.message_handover_s = seconds_from(object.at("message_handover_s"));
  profile.spin_timeout_s = seconds_from(object.at("awake_s"));
  profile.cores = count_from(object.at("cores"));
  for (const json& place : object.at("places")) {
    profile.places.push_back(
        {costs_from(place.at("alone")), costs_from(place.at("together")),
         place.at("host_accessible").get<bool>(), count_from(place.at("threads")),
         pass_differences_from(place.at("again")), pass_differences_from(place.at("alternating")),
         place.at("one_driver").get<bool>(), slice_factors_from(place.at("slices"))});
  }
  return profile;
}

std::string value_in(const json& facts, const std::string& name) {
  for (const json& fact : facts) {
    if (fact.at(0).get<std::string>() == name) {
      return fact.at(1).get<std::string>();
    }
  }
  return "not known";
}

void require_same(const json& found, const Facts& wanted, const std::string& origin) {
  for (const auto& [name, value] : wanted) {
    const std::string other = value_in(found, name);
    if (other != value) {
      throw UsageError(fmt::format(
          "{} can't be used here: its {} is '{}', this run's is '{}'. A profile's times hold only "
          "where it was measured; measure anew",
          origin, name, other, value));
    }
  }
}

}  // namespace

std::string profile_text(const Profile& profile, const Facts& identity, const std::string& date) {
  json places = json::array();
  for (const PlaceProfile& place : profile.places) {
    places.push_back({{"host_accessible", place.host_accessible},
                      {"threads", place.threads},
                      {"one_driver", place.one_driver},
                      {"again", json_of(place.again)},
                      {"alternating", json_of(place.alternating)},
                      {"alone", json_of(place.alone)},
                      {"together", json_of(place.together)},
                      {"slices", json_of(place.slices)}});
  }
  const json object{{"format", format_name},
                    {"version", format_version},
                    {"date", date},
                    {"identity", json_of(identity)},
                    {"step_overhead_s", profile.step_overhead_s},
                    {"joint_overhead_s", profile.joint_overhead_s},
                    {"task_overhead_s", profile.task_overhead_s},
                    {"handover_s", profile.handover_s},
                    {"wake_s", profile.wake_s},
                    {"message_handover_s", profile.message_handover_s},
                    {"awake_s", profile.spin_timeout_s},
                    {"cores", profile.cores},
                    {"places", std::move(places)}};
  return object.dump(1) + "\n";
}

Profile profile_from(const std::string& text, const Facts& identity, const std::string& origin) {
  const json object = json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto refuse = [&](const std::string& why) {
    return DataError(origin + " is no profile (" + why + "); measure anew");
  };
  if (!object.is_object() || object.value("format", json()) != json(format_name)) {
    throw refuse("the mark '" + std::string(format_name) + "' is missing");
  }
  try {
    const int version = object.at("version").get<int>();
    if (version != format_version) {
      throw UsageError(
          fmt::format("{} has format version {}; this program reads version {}. "
                      "Measure anew",
                      origin, version, format_version));
    }
    require_same(object.at("identity"), identity, origin);
    return profile_of(object);
  } catch (const json::exception& error) {
    throw refuse(error.what());
  } catch (const DataError& error) {
    throw refuse(error.what());
  }
}

void save_profile(const std::filesystem::path& file, const Profile& profile, const Facts& identity,
                  const std::string& date) {
  io::write_file_atomically(file, profile_text(profile, identity, date));
}

Profile load_profile(const std::filesystem::path& file, const Facts& identity) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) {
    throw IoError("can't read the profile " + file.string());
  }
  return profile_from(text.str(), identity, "the profile " + file.string());
}

}  // namespace zygos::plan
