// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "browser.hpp"

#include "support/skip.hpp"

#include <catch2/catch_test_macros.hpp>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <utility>

namespace zygos::test {

namespace fs = std::filesystem;

namespace {

bool in_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((fs::path(folder) / name).c_str(), X_OK) == 0) {
      return true;
    }
  }
  return false;
}

Outcome chromium(const fs::path& page, const std::string& address, const fs::path& directory,
                 const std::vector<std::string>& options) {
  // Containers and root have no sandbox to offer, and little shared memory.
  std::vector<std::string> words{"--headless=new", "--no-sandbox", "--disable-gpu",
                                 "--disable-dev-shm-usage",
                                 "--user-data-dir=" + (directory / "profile").string()};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back("file://" + fs::absolute(page).string() + address);
  Process process(words, directory, chromium_or_skip());
  Outcome outcome = process.wait(std::chrono::seconds(60));
  CAPTURE(words, outcome.err);
  REQUIRE(outcome.code == 0);
  return outcome;
}

std::string unescaped(std::string text) {
  for (const auto& [entity, character] : std::vector<std::pair<std::string, std::string>>{
           {"&lt;", "<"}, {"&gt;", ">"}, {"&nbsp;", "\u00a0"}, {"&amp;", "&"}}) {
    for (auto at = text.find(entity); at != std::string::npos;
         at = text.find(entity, at + character.size())) {
      text.replace(at, entity.size(), character);
    }
  }
  return text;
}

}  // namespace

std::string chromium_or_skip() {
  const std::string name = "chromium";
  if (!in_path(name)) {
    skip_without(name, "there is no " + name + " in PATH");
  }
  return name;
}

std::string dom_of(const fs::path& page, const std::string& address,
                   const std::vector<std::string>& options) {
  const Scratch scratch;
  std::vector<std::string> words{"--dump-dom"};
  words.insert(words.end(), options.begin(), options.end());
  return chromium(page, address, scratch.path(), words).out;
}

nlohmann::json selfcheck_of(const fs::path& page, const std::string& address,
                            const std::vector<std::string>& options) {
  const std::string dom = dom_of(page, "#selfcheck" + address, options);
  const std::string head = R"(<pre id="selfcheck" hidden="">)";
  const auto from = dom.find(head);
  INFO("the page's script did not come to its end");
  REQUIRE(from != std::string::npos);
  const auto start = from + head.size();
  return nlohmann::json::parse(unescaped(dom.substr(start, dom.find("</pre>", start) - start)));
}

std::string pdf_of(const fs::path& page, const std::string& address) {
  const Scratch scratch;
  const fs::path file = fs::absolute(scratch.path()) / "page.pdf";
  chromium(page, address, scratch.path(),
           {"--no-pdf-header-footer", "--print-to-pdf=" + file.string()});
  return read_text(file);
}

}  // namespace zygos::test
