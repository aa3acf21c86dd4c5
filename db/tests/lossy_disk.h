// SPDX-License-Identifier: GPL-3.0-or-later
// A disk that loses at a power cut what was not forced to it: a model made from the calls by which
// this program, SQLite in it included, has changed the files of a directory.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace pf::db {

using FileBytes = std::vector<std::uint8_t>;
/// The files of a directory, by name.
using Files = std::map<std::string, FileBytes>;

[[nodiscard]] Files filesOf(const std::string& directory);
void putFiles(const Files& files, const std::string& directory);

/// One call that has succeeded.
struct DiskCall {
  enum class Kind : std::uint8_t {
    Make,       ///< `name` is a new and empty `file`
    Write,      ///< `bytes` of `file` from `at` on
    Resize,     ///< `file` to `at` bytes
    Sync,       ///< `file` is on disk as it is now
    Name,       ///< `name` is `file` as well
    Rename,     ///< `former`, a name of `file`, is now `name`
    Remove,     ///< `name` is gone
    SyncNames,  ///< the directory is on disk as it is now
  };
  Kind kind = Kind::Sync;
  std::size_t file = 0;
  std::int64_t at = 0;
  FileBytes bytes{};
  std::string name{};
  std::string former{};
};

class LossyDisk {
 public:
  /// From now on until it is destroyed the calls are written down; one disk at a time. What is in
  /// the directory now is on disk.
  explicit LossyDisk(const std::string& directory);
  ~LossyDisk();
  LossyDisk(const LossyDisk&) = delete;
  LossyDisk& operator=(const LossyDisk&) = delete;

  [[nodiscard]] const std::vector<DiskCall>& calls() const { return m_calls; }

  /// What may be found after a power cut behind the first `count` calls. Of a file there is what
  /// was written before its last sync. Of what was written since, each 512-byte sector may be there
  /// or not, whatever the order; the file may have grown or not. Names are there as at the last
  /// sync of the directory; each later change of them may be there or not.
  [[nodiscard]] Files cutAfter(std::size_t count, std::mt19937& random) const;

  /// Called behind the calls themselves.
  void note(int file, DiskCall call);
  void noteName(const std::string& path, const std::string& former, DiskCall::Kind kind);
  void noteMade(const std::string& path);

 private:
  [[nodiscard]] std::string nameIn(const std::string& path) const;  ///< empty: not in the directory
  [[nodiscard]] FileBytes contentAfter(std::size_t file, std::size_t count,
                                       std::mt19937& random) const;

  std::string m_directory;
  std::uint64_t m_directoryInode = 0;
  std::map<std::uint64_t, std::size_t> m_numbers;  ///< of files, by inode
  std::size_t m_files = 0;
  std::map<std::string, std::size_t> m_names;  ///< at the start
  std::map<std::size_t, FileBytes> m_contents;
  std::vector<DiskCall> m_calls;
};

}  // namespace pf::db
