# SPDX-License-Identifier: GPL-3.0-or-later
"""Plugins of others: the example of tests/plugin_example is built against the installed product and used from there; and what is refused."""
import os
import pathlib
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from photofinish import BIN, SOURCE, PhotofinishTest, main

EXAMPLE = SOURCE / "tests" / "plugin_example"
MADE = BIN.parent / "plugins" / "host" / "made"
BAR, DONE = (0, 160, 120), (0, 60, 60)  # bars_pane.cpp
RANKS = 4


def picture(path):
    """Width, height and the bytes of a binary PPM."""
    kind, size, most, pixels = path.read_bytes().split(b"\n", 3)
    assert kind == b"P6" and most == b"255", path
    width, height = map(int, size.split())
    return width, height, pixels


def bars(path, colour):
    """Lengths of the longest runs of a colour in lines of pixels, without repeats of neighbours: the bars from top to bottom."""
    width, height, pixels = picture(path)
    runs = []
    for row in range(height):
        line = pixels[row * width * 3:(row + 1) * width * 3]
        marks = "".join("x" if tuple(line[x:x + 3]) == colour else " " for x in range(0, len(line), 3))
        runs.append(max((len(run) for run in marks.split()), default=0))
    return [run for at, run in enumerate(runs) if run > 0 and (at == 0 or runs[at - 1] == 0)]


class PluginsTest(PhotofinishTest):
    def setUp(self):
        super().setUp()
        self.env.update(XDG_DATA_HOME=str(self.dir / "data"), XDG_CONFIG_HOME=str(self.dir / "config"), QT_QPA_PLATFORM="offscreen")
        self.env.pop("PHOTOFINISH_PLUGIN_PATH", None)

    def run_well(self, *words, **options):
        run = self.run_command(*words, **options)
        self.assertEqual(run.status, 0, run)
        return run

    def record_sum(self):
        self.record("t.pft", self.mpirun(RANKS, BIN / "corpus" / "any_source_sum"), "--mode", "all")

    def install_with_example(self):
        """The product below self.dir/root, and the plugin, built with nothing but it."""
        root = self.dir / "root"
        for part in ("engine", "window"):
            self.run_well("cmake", "--install", BIN.parent, "--prefix", root, "--component", part, timeout=120)
        build = self.dir / "example"
        self.run_well("cmake", "-G", "Ninja", "-S", EXAMPLE, "-B", build, f"-DCMAKE_PREFIX_PATH={root}", "-DCMAKE_BUILD_TYPE=Debug", timeout=120)
        made = self.run_well("cmake", "--build", build, "--verbose", timeout=240)
        self.assertNotIn(f"-I{SOURCE}", made.out)
        self.run_well("cmake", "--install", build)
        self.program = root / "bin" / "photofinish"
        return root, build

    def test_the_example(self):
        self.need("cmake", "mpirun", BIN / "photofinish-gui")
        root, build = self.install_with_example()
        installed, = root.rglob("example.so")
        self.assertEqual(installed.parent.name, "plugins")
        self.check_list(installed)
        self.record_sum()
        self.check_export()
        self.check_judge()
        self.check_command()
        self.check_pane(root)
        self.check_page(root)
        # The user's own folder comes before that of the installation.
        own = self.dir / "data" / "photofinish" / "plugins"
        own.mkdir(parents=True)
        shutil.copy(build / "example.so", own)
        listed = self.run_well(self.program, "plugins", "--json").json()
        self.assertEqual([plugin["path"] for plugin in listed["plugins"] if plugin["name"] == "example"], [str(own / "example.so")])
        refused, = listed["refused"]
        self.assertEqual(refused["path"], str(installed))
        self.assertIn(f"the name is taken: plugin example is of {own}/example.so", refused["why"])

    def check_list(self, installed):
        listed = self.run_well(self.program, "plugins", "--json").json()
        self.assertEqual(listed["refused"], [])
        example, = [plugin for plugin in listed["plugins"] if plugin["path"]]
        self.assertEqual((example["name"], example["version"], example["path"]), ("example", "1.0", str(installed)))
        self.assertEqual([(part["kind"], part["id"]) for part in example["parts"]],
                         [("pane", "bars"), ("exporter", "rings"), ("judge", "same_tag"), ("command", "count_events")])
        text = self.run_well(self.program, "plugins").out
        self.assertIn(f"example 1.0, {installed}: A pane, an exporter", text)
        self.assertIn("    pane queues: Message queues\n", text)  # bundled ones are listed as well
        self.assertIn("    exporter otf2: OTF2\n", text)

    def check_export(self):
        races = self.run_well(self.program, "races", "t.pft", "--json").json()["races"]
        self.assertTrue(races)
        self.run_well(self.program, "export", "t.pft", "--format", "rings", "-o", "rings.txt")
        lines = (self.dir / "rings.txt").read_text().splitlines()
        self.assertEqual(lines[0], "rank serial call file line alternatives")
        self.assertEqual(lines[1:], [" ".join(map(str, (at["rank"], at["serial"], at["call"], at["file"], at["line"], len(race["alternatives"]))))
                                     for race in races for at in [race["receive"]]])
        again = self.run_command(self.program, "export", "t.pft", "--format", "rings", "-o", "rings.txt")
        self.assert_refused(again, 2, "is there already")
        other = self.run_command(self.program, "export", "t.pft", "--format", "ring")
        self.assert_refused(other, 2, "there is no export format 'ring'", "csv, chrome, shiviz, otf2 and rings")

    def check_judge(self):
        text = self.run_well(self.program, "races", "t.pft").out
        self.assertRegex(text, r"judge same_tag: benign, all that it could have taken has tag \d+")
        for race in self.run_well(self.program, "races", "t.pft", "--json").json()["races"]:
            tags = {race["taken"]["tag"], *(message["tag"] for message in race["alternatives"])}
            verdict, = race["verdicts"]
            self.assertEqual((verdict["judge"], verdict["opinion"]), ("same_tag", "benign" if len(tags) == 1 else "suspect"))
        self.assertNotIn("judge", self.photofinish("races", "t.pft").out)  # of the build tree: no plugin there

    def check_command(self):
        counts = [rank["events"] for rank in self.info()["perRank"]]
        lines = [f"rank {rank}: {count} events\n" for rank, count in enumerate(counts)]
        total = f"all: {sum(counts)} events\n"
        self.assertEqual(self.run_well(self.program, "command", "count_events", "t.pft").out, "".join(lines) + total)
        self.assertEqual(self.run_well(self.program, "command", "count_events", "t.pft", "--", "--total").out, total)
        wrong = self.run_command(self.program, "command", "count_events", "t.pft", "every", "-o", "out")
        self.assert_refused(wrong, 1, "takes --total only, not 'every'")
        self.assertFalse((self.dir / "out").exists())
        self.assert_refused(self.run_command(self.program, "command", "nothing", "t.pft"), 2, "no plugin has a command 'nothing'", "count_events")

    def check_pane(self, root):
        window, = root.rglob("photofinish-gui")
        self.run_well(window, "--pane", "bars", "--screenshot", "pane.ppm", self.dir / "t.pft")
        counts = [rank["events"] for rank in self.info()["perRank"]]
        seen = bars(self.dir / "pane.ppm", BAR)
        self.assertEqual(len(seen), RANKS, seen)
        for length, count in zip(seen, counts):
            self.assertAlmostEqual(length / max(seen), count / max(counts), delta=0.02)
        self.check_cut(window, counts)
        self.run_well(window, "--pane", "queues", "--screenshot", "other.ppm", self.dir / "t.pft")
        self.assertEqual(bars(self.dir / "other.ppm", BAR), [])
        wrong = self.run_command(window, "--pane", "nowhere", "--screenshot", "none.ppm", self.dir / "t.pft")
        self.assert_refused(wrong, 2, "there is no pane 'nowhere'")

    def check_cut(self, window, counts):
        """The pane is told where the ranks of a replay are: rank 0 just before its event 5, those before it are dark."""
        if not shutil.which("gdb"):
            return
        self.run_well(window, "--pane", "bars", "--replay-to", "0:5", "--screenshot", "cut.ppm", self.dir / "t.pft")
        dark, light = bars(self.dir / "cut.ppm", DONE), bars(self.dir / "cut.ppm", BAR)
        self.assertAlmostEqual(dark[0] / (dark[0] + light[0]), 4 / counts[0], delta=0.02)

    def check_page(self, root):
        """The pane of docs/plugins.md is what it says there."""
        page = (SOURCE / "docs" / "plugins.md").read_text()
        blocks = [re.sub("^    ", "", block, flags=re.M) for block in re.findall(r"(?:^    .*\n|^\n)+", page, re.M)]
        code, = (block for block in blocks if "PHOTOFINISH_PLUGIN(" in block)
        cmake, = (block for block in blocks if "find_package(" in block)
        self.assertLessEqual(len(code.strip().splitlines()), 36)
        folder = self.dir / "page"
        folder.mkdir()
        (folder / "left.cpp").write_text(code)
        (folder / "CMakeLists.txt").write_text(cmake)
        self.run_well("cmake", "-G", "Ninja", "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={root}", timeout=120)
        self.run_well("cmake", "--build", folder / "build", timeout=240)
        self.env["PHOTOFINISH_PLUGIN_PATH"] = str(folder / "build")
        text = self.run_well(self.program, "plugins").out
        self.assertIn(f"left 1.0, {folder}/build/left.so: Says what is left.\n    pane left: Left\n", text)
        window, = root.rglob("photofinish-gui")
        self.run_well(window, "--pane", "left", "--screenshot", "left.ppm", self.dir / "t.pft")
        del self.env["PHOTOFINISH_PLUGIN_PATH"]

    def made(self, *names):
        """A folder with plugins that are refused, each in its way."""
        folder = self.dir / "made"
        folder.mkdir(mode=0o755)
        for name in names:
            shutil.copy(MADE / f"{name}.so", folder)
        self.env["PHOTOFINISH_PLUGIN_PATH"] = str(folder)
        return folder

    def test_what_is_refused_and_why(self):
        self.need(MADE / "whole.so")
        folder = self.made("whole", "former", "newer", "throws", "crashes", "hangs", "leaves", "nothing", "unlinked")
        (folder / "junk.so").write_text("no library\n")
        shutil.copy(MADE / "whole.so", folder / "writable.so")
        (folder / "writable.so").chmod(0o777)
        shutil.copy(MADE / "whole.so", folder / "zz_again.so")
        listed = self.photofinish("plugins", "--json").json()
        self.assertEqual([plugin["name"] for plugin in listed["plugins"] if plugin["path"]], ["whole"])
        why = {pathlib.Path(refused["path"]).stem: refused["why"] for refused in listed["refused"]}
        for name, words in {"former": "is made for version 77 of the plugin interface", "newer": "needs revision 999",
                            "throws": "there is no colour left", "crashes": "it crashed", "hangs": "it did not come back in 5 seconds",
                            "leaves": "ended its process with status 7", "nothing": "it gives nothing", "unlinked": "notThere",
                            "junk": "cannot be loaded", "writable": "others may write it", "zz_again": "the name is taken"}.items():
            self.assertIn(words, why.pop(name))
        self.assertEqual(why, {})
        self.assertTrue(all(refused["advice"] for refused in listed["refused"]))

    def test_others_go_on(self):
        """Refused plugins are told of, and hinder nothing; a judge that throws says so."""
        self.need("mpirun", MADE / "whole.so")
        self.made("whole", "throws", "crashes")
        self.record_sum()
        races = self.photofinish("races", "t.pft")
        self.assertEqual(races.status, 0, races)
        self.assertIn("2 plugins were not loaded: 'photofinish plugins' says why", races.err)
        self.assertEqual(len(re.findall("judge strict of plugin whole failed: no judge today", races.out)), 1, races)
        listed = self.photofinish("races", "t.pft", "--json").json()["races"]
        self.assertEqual(listed[0]["verdicts"], [{"judge": "strict", "problem": "judge strict of plugin whole failed: no judge today"}])
        self.assertTrue(all(race["verdicts"] == [] for race in listed[1:]))
        self.assertEqual(self.photofinish("export", "t.pft", "--format", "ranks").out, f"{RANKS}\n")
        self.assertEqual(self.photofinish("command", "count", "t.pft", "one", "two").status, 2)

    def test_the_window_stays(self):
        self.need(BIN / "photofinish-gui", MADE / "whole.so")
        self.made("whole", "throws", "crashes", "hangs")
        run = self.run_command(BIN / "photofinish-gui", "--pane", "races", "--screenshot", "window.ppm")
        self.assertEqual(run.status, 0, run)
        width, height, _ = picture(self.dir / "window.ppm")
        self.assertGreater(width * height, 100000)

    def test_a_pane_that_crashes_when_it_is_made(self):
        """It takes one window along, and no other."""
        self.need(BIN / "photofinish-gui", MADE.parent / "trap" / "trap.so")
        trap = self.made() / "trap.so"
        shutil.copy(MADE.parent / "trap" / "trap.so", trap)
        picture_of = (BIN / "photofinish-gui", "--pane", "races", "--screenshot")
        self.assertEqual(self.run_command(*picture_of, "first.ppm").status, 128 + 11)
        for name in ("second.ppm", "third.ppm"):
            self.run_well(*picture_of, name)
        settings = next((self.dir / "config").rglob("*.conf"))
        self.assertIn("trap.so", settings.read_text())
        os.utime(trap)  # another file of its name is tried again
        self.assertEqual(self.run_command(*picture_of, "fourth.ppm").status, 128 + 11)
        self.assertEqual(self.photofinish("plugins", "--json").json()["refused"], [])  # where no pane is made


if __name__ == "__main__":
    main()
