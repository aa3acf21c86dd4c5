// SPDX-License-Identifier: MIT
// The interface of plugins, installed as <photofinish/plugin.h>. docs/plugins.md shows how one is written.
//
// A plugin is a shared object that gives panes of the window, exporters, judges of races and commands.
// It has one entry, photofinish_plugin(), made by PHOTOFINISH_PLUGIN. What the product hands out are
// values and abstract classes; nothing here includes a file of the product, and nothing need be linked.
//
// Versions. PHOTOFINISH_PLUGIN_INTERFACE goes up when former plugins can no longer be run: these are
// refused before any function of theirs is called but the entry, which is C. PHOTOFINISH_PLUGIN_REVISION
// goes up when something is added: at the end of the classes that the product implements, so that
// plugins of former revisions still run. A plugin of a newer revision is refused.
//
// Errors. A plugin may throw what is derived from std::exception: it is caught, and told with the
// plugin's name. Panes are called on the thread of the window, all else on the one thread of a command.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#define PHOTOFINISH_PLUGIN_INTERFACE 1U
#define PHOTOFINISH_PLUGIN_REVISION 1U

class QWidget;

namespace photofinish {

/// A piece of UTF-8 text. What the product hands out stays as long as the object that gave it.
struct Text {
  const char* data = "";
  std::uint64_t size = 0;

  Text() = default;
  Text(std::string_view text) : data(text.data()), size(text.size()) {}    // NOLINT
  Text(const std::string& text) : data(text.data()), size(text.size()) {}  // NOLINT
  Text(const char* text) : Text(std::string_view(text)) {}                 // NOLINT
  operator std::string_view() const { return {data, size}; }               // NOLINT
  [[nodiscard]] std::string string() const { return {data, size}; }
  [[nodiscard]] bool empty() const { return size == 0; }
};

inline constexpr std::int32_t kAny = -1;                   ///< a source, or a tag: any
inline constexpr std::int32_t kUnknownRank = -2;           ///< a rank that is not known, or none
inline constexpr std::uint64_t kNone = ~std::uint64_t{0};  ///< no such message, site, communicator

/// An event: an MPI call that communicates. Ranks are those of MPI_COMM_WORLD, serials count from 1.
struct EventRef {
  std::int32_t rank = kUnknownRank;
  std::uint64_t serial = 0;
  [[nodiscard]] bool valid() const { return serial != 0; }
  friend bool operator==(const EventRef& a, const EventRef& b) {
    return a.rank == b.rank && a.serial == b.serial;
  }
};

enum class EventKind : std::uint32_t {
  Unknown,         ///< there is no such event, or it cannot be read
  Send,            ///< a message leaves
  Receive,         ///< a blocking receive
  SendReceive,     ///< MPI_Sendrecv
  Post,            ///< a receive that does not block is posted
  Completion,      ///< MPI_Wait …, or a test that said yes
  Probe,           ///< a probe that saw a message
  Collective,      ///< a collective that blocks
  CollectivePost,  ///< one that does not
  Local,           ///< MPI_Init, MPI_Finalize, MPI_Abort …
  Start,           ///< MPI_Startall
};

struct Event {
  EventRef at;
  Text call;  ///< "MPI_Recv"
  EventKind kind = EventKind::Unknown;
  std::int32_t peer =
      kUnknownRank;  ///< to whom; of receives and probes: from whom is asked, or kAny
  std::int32_t tag = kAny;
  std::uint32_t thread = 0;            ///< 0 called MPI_Init
  std::uint64_t site = kNone;          ///< a number for Trace::site()
  std::uint64_t communicator = kNone;  ///< a number for Trace::communicator()
  std::uint64_t bytes = 0;             ///< of what is sent, where that is known
  std::uint64_t logicalTime = 0;       ///< from 1; every message goes forward in it
  std::uint64_t begin = 0;  ///< nanoseconds since the first event of the run, where `timed`
  std::uint64_t end = 0;    ///< likewise
  bool timed = false;
  bool racing = false;  ///< a race is chosen here: by the post of a receive, or by a probe
};

/// A message that was sent.
struct Message {
  EventRef sent;
  EventRef posted;    ///< of the receive that took it; not valid: none did
  EventRef received;  ///< where the program saw it; not valid: it did not
  std::int32_t destination = kUnknownRank;
  std::int32_t tag = kAny;
  std::uint64_t communicator = kNone;
  std::uint64_t bytes = 0;  ///< where they are known
};

/// A receive that is over, or a probe that saw a message.
struct Receive {
  EventRef posted;
  EventRef completed;
  std::int32_t source = kUnknownRank;
  std::int32_t tag = kAny;
  std::uint64_t message = kNone;  ///< kNone: its send is not in the record
  bool cancelled = false;
  bool probe = false;
};

/// A receive, or probe, that could have taken another message.
struct Race {
  EventRef chosen;                 ///< the post of the receive, or the probe
  EventRef observed;               ///< where the program saw its outcome
  std::uint64_t taken = kNone;     ///< the message that it took
  std::uint64_t alternatives = 0;  ///< how many it could have taken instead
  bool probe = false;
};

/// A place in the program that calls MPI.
struct Site {
  Text file;  ///< empty: not known
  Text function;
  std::uint32_t line = 0;
};

struct Communicator {
  Text name;                ///< "MPI_COMM_WORLD", or how it was made
  std::uint64_t ranks = 0;  ///< in its group
};

struct Rank {
  Text host;
  Text end;  ///< how it ended, in words; empty: nothing to say
};

/// A recorded run, to be read. Numbers out of range give values that say so. What it gives does not
/// change. From one thread at a time.
class Trace {
 public:
  [[nodiscard]] virtual Text path() const = 0;  ///< its file; empty: none
  [[nodiscard]] virtual std::int32_t ranks() const = 0;
  [[nodiscard]] virtual Rank rank(std::int32_t rank) const = 0;
  [[nodiscard]] virtual std::uint64_t events(std::int32_t rank) const = 0;  ///< its last serial
  [[nodiscard]] virtual Event event(EventRef at) const = 0;
  [[nodiscard]] virtual std::uint64_t messages() const = 0;
  [[nodiscard]] virtual Message message(std::uint64_t number) const = 0;
  [[nodiscard]] virtual std::uint64_t races() const = 0;
  [[nodiscard]] virtual Race race(std::uint64_t number) const = 0;
  /// The message of an alternative, from 0.
  [[nodiscard]] virtual std::uint64_t alternative(std::uint64_t race,
                                                  std::uint64_t which) const = 0;
  [[nodiscard]] virtual std::uint64_t sites() const = 0;
  [[nodiscard]] virtual Site site(std::uint64_t number) const = 0;
  [[nodiscard]] virtual std::uint64_t communicators() const = 0;
  [[nodiscard]] virtual Communicator communicator(std::uint64_t number) const = 0;
  /// Where the run failed; not valid: it did not.
  [[nodiscard]] virtual EventRef failure() const = 0;
  /// Messages that are sent at an event: how many; the first `room` of them are put into `numbers`.
  virtual std::uint64_t sentAt(EventRef at, std::uint64_t* numbers, std::uint64_t room) const = 0;
  /// Receives that an event completes and probes that it answers, likewise.
  virtual std::uint64_t receivedAt(EventRef at, Receive* receives, std::uint64_t room) const = 0;

  /// The same as vectors.
  [[nodiscard]] std::vector<std::uint64_t> sentAt(EventRef at) const {
    std::vector<std::uint64_t> numbers(sentAt(at, nullptr, 0));
    sentAt(at, numbers.data(), numbers.size());
    return numbers;
  }
  [[nodiscard]] std::vector<Receive> receivedAt(EventRef at) const {
    std::vector<Receive> receives(receivedAt(at, nullptr, 0));
    receivedAt(at, receives.data(), receives.size());
    return receives;
  }

 protected:
  Trace() = default;
  ~Trace() = default;
  Trace(const Trace&) = default;
  Trace& operator=(const Trace&) = default;
};

/// What a plugin calls itself, and what it gives.
struct Description {
  const char* id;  ///< small letters, digits, '_' and '-'; unique, and never changes: "wait_bars"
  const char* title;  ///< for menus and tabs: "Waiting"
  const char* help;   ///< some sentences; of a pane: what F1 shows
};

// ---- Panes

/// The window, as a pane sees it.
class Window {
 public:
  /// Until traceChanged() is called next. Null: none is open.
  [[nodiscard]] virtual const Trace* trace() const = 0;
  /// Not valid: none is.
  [[nodiscard]] virtual EventRef selected() const = 0;
  /// The cut: which event a rank of the replay is about to do, or inside of; one more than the last where it has
  /// done all. 0: it is not replayed.
  [[nodiscard]] virtual std::uint64_t next(std::int32_t rank) const = 0;
  /// Selects an event in all panes, and shows its source.
  virtual void select(EventRef at) = 0;
  /// Asks for a replay to there, with GDB. It may be refused; the window says why.
  virtual void replayTo(EventRef at) = 0;
  /// A sentence for the line at the bottom of the window.
  virtual void say(Text text) = 0;
  /// Since revision 1: `rank` has begun event next(rank), and is inside of its call.
  [[nodiscard]] virtual bool inside(std::int32_t rank) const = 0;

 protected:
  Window() = default;
  ~Window() = default;
  Window(const Window&) = default;
  Window& operator=(const Window&) = default;
};

/// A pane of the window. The window deletes it before its widget.
class Pane {
 public:
  Pane() = default;
  virtual ~Pane() = default;
  Pane(const Pane&) = delete;
  Pane& operator=(const Pane&) = delete;

  /// Always the same one, made with the parent that the pane was made with.
  [[nodiscard]] virtual QWidget* widget() = 0;
  /// Another trace is shown, or none. `newer`: a newer version of the same run, which goes on.
  virtual void traceChanged(bool newer) { static_cast<void>(newer); }
  virtual void selectionChanged() {}
  virtual void cutChanged() {}
};

/// A new pane. `window` stays longer than it.
using MakePane = Pane* (*)(Window& window, QWidget* parent);

// ---- Exporters and commands

/// Where text goes to. What could not be written is told when all is over.
class Output {
 public:
  virtual void write(Text text) = 0;
  /// It has come to nothing: `message` is told, `advice` says what to do next; what was written is
  /// removed where it can be.
  virtual void fail(Text message, Text advice) = 0;
  /// Of ExportTo::Directory: its path. Nothing is there yet.
  [[nodiscard]] virtual Text path() const = 0;

 protected:
  Output() = default;
  ~Output() = default;
  Output(const Output&) = default;
  Output& operator=(const Output&) = default;
};

enum class ExportTo : std::uint32_t { Text, Directory };
/// photofinish export FILE --format ID
using Export = void (*)(const Trace& trace, Output& output);

/// Words that follow on the command line.
struct Words {
  const Text* first = nullptr;
  std::uint64_t count = 0;
  [[nodiscard]] const Text* begin() const { return first; }
  [[nodiscard]] const Text* end() const { return first + count; }
};
/// photofinish command ID FILE WORD …; its exit status, 0 to 125.
using Run = int (*)(const Trace& trace, Words words, Output& output);

// ---- Judges of races

enum class Opinion : std::uint32_t {
  None,     ///< says nothing of it
  Benign,   ///< its order does not matter
  Suspect,  ///< look here
};

struct Verdict {
  Opinion opinion = Opinion::None;
  Text reason;  ///< one sentence. Stays until the judge is asked again
};

/// Says what it holds of each race of a trace. `photofinish races` shows it.
class Judge {
 public:
  Judge() = default;
  virtual ~Judge() = default;
  Judge(const Judge&) = delete;
  Judge& operator=(const Judge&) = delete;
  [[nodiscard]] virtual Verdict judge(std::uint64_t race) = 0;
};
/// `trace` stays longer than it.
using MakeJudge = Judge* (*)(const Trace& trace);

// ---- Entry

/// Takes what a plugin gives. A description may be gone afterwards.
class Parts {
 public:
  virtual void pane(const Description& description, MakePane make) = 0;
  virtual void exporter(const Description& description, ExportTo to, Export write) = 0;
  virtual void judge(const Description& description, MakeJudge make) = 0;
  virtual void command(const Description& description, Run run) = 0;

 protected:
  Parts() = default;
  ~Parts() = default;
  Parts(const Parts&) = default;
  Parts& operator=(const Parts&) = default;
};

}  // namespace photofinish

extern "C" {

/// What photofinish_plugin() returns. `interface` and `revision` stay where they are in every version.
struct PhotofinishPlugin {
  std::uint32_t interface;
  std::uint32_t revision;
  const char* name;     ///< as Description::id: "example"
  const char* version;  ///< "1.0"
  const char* about;    ///< one sentence
  /// Gives its parts. Called once, after all of the above was found right.
  void (*give)(photofinish::Parts* parts);
};

}  // extern "C"

/// The entry of a plugin, once in one of its files: PHOTOFINISH_PLUGIN("example", "1.0", "What it is for.", give), where
/// give is a void give(photofinish::Parts& parts).
#define PHOTOFINISH_PLUGIN(NAME, VERSION, ABOUT, GIVE)                                         \
  extern "C" __attribute__((visibility("default"))) const PhotofinishPlugin*                   \
  photofinish_plugin() {                                                                       \
    static const PhotofinishPlugin plugin = {PHOTOFINISH_PLUGIN_INTERFACE,                     \
                                             PHOTOFINISH_PLUGIN_REVISION,                      \
                                             NAME,                                             \
                                             VERSION,                                          \
                                             ABOUT,                                            \
                                             [](photofinish::Parts* parts) { GIVE(*parts); }}; \
    return &plugin;                                                                            \
  }                                                                                            \
  static_assert(true)
