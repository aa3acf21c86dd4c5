# SPDX-License-Identifier: GPL-3.0-or-later
"""What is installed for editors: the extension of VS Code, the module of Neovim, the library of Emacs. Each is run with a stub of what
it builds upon, and what it asks the DAP server for is asked of the real one."""
import json
import os
import re
import shutil
import sys
import xml.etree.ElementTree
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from dap_client import DapCase
from photofinish import BIN, SOURCE, main

SHARE = SOURCE / "share"
EXTENSION = SHARE / "vscode"
SUPPORT = SOURCE / "tests" / "support"
# What the server reads of a launch or attach (app/dap/wire/dap_messages.cpp); VS Code adds the others by itself.
TAKEN = {"launch": {"trace", "program", "args", "launcher", "cwd", "env", "output", "jitter", "until", "stopOnEntry", "focus", "ranks", "group",
                    "transcripts", "stepOneThread", "trust"},
         "attach": {"processId", "coreFiles", "program", "stopOnEntry", "focus", "transcripts", "stepOneThread"}}


class EditorsTest(DapCase):
    def record_sum(self, *options):
        return self.record("t.pft", self.mpirun(3, BIN / "corpus" / "any_source_sum"), *options)

    def package(self):
        return json.loads((EXTENSION / "package.json").read_text())

    def pack(self, name="p.vsix"):
        run = self.run_command(sys.executable, "-B", EXTENSION / "pack.py", EXTENSION, SOURCE / "LICENSE", self.dir / name)
        self.assertEqual(run.status, 0, run)
        return zipfile.ZipFile(self.dir / name)

    def test_the_package_is_whole(self):
        """Every file that is named is in it, each type has its kind, and the same input gives the same bytes."""
        archive = self.pack()
        self.pack("q.vsix")
        self.assertEqual((self.dir / "p.vsix").read_bytes(), (self.dir / "q.vsix").read_bytes())
        names = set(archive.namelist())
        self.assertIsNone(archive.testzip())
        types = xml.etree.ElementTree.fromstring(archive.read("[Content_Types].xml"))
        known = {each.get("Extension") for each in types}
        self.assertEqual({name for name in names - {"[Content_Types].xml"} if "." + name.rsplit(".", 1)[1] not in known}, set())
        vsx = "{http://schemas.microsoft.com/developer/vsx-schema/2011}"
        manifest = xml.etree.ElementTree.fromstring(archive.read("extension.vsixmanifest"))
        for asset in manifest.iter(f"{vsx}Asset"):
            self.assertIn(asset.get("Path"), names)
        self.assertIn(manifest.find(f"{vsx}Metadata/{vsx}License").text, names)
        package = self.package()
        identity = manifest.find(f"{vsx}Metadata/{vsx}Identity")
        self.assertEqual((identity.get("Id"), identity.get("Version"), identity.get("Publisher")),
                         (package["name"], package["version"], package["publisher"]))
        self.assertIn(f"extension/{package['main'].removeprefix('./')}", names)
        self.assertEqual(json.loads(archive.read("extension/package.json")), package)
        project = re.search(r"project\(photofinish VERSION (\S+)", (SOURCE / "CMakeLists.txt").read_text()).group(1)
        self.assertEqual(package["version"], project, "the package has the version of the program")

    def test_what_the_package_contributes_is_there(self):
        package, code = self.package(), (EXTENSION / "extension.js").read_text()
        contributes = package["contributes"]
        commands = {each["command"] for each in contributes["commands"]}
        self.assertEqual(set(re.findall(r'^    "(photofinish\.\w+)":', code, re.M)), commands)
        views = {each["id"] for each in contributes["views"]["debug"]}
        self.assertEqual(set(re.findall(r'registerTreeDataProvider\("([\w.]+)"', code)), views)
        used = {each["command"] for menu in contributes["menus"].values() for each in menu}
        self.assertLessEqual(used, commands)
        texts = json.dumps(contributes["debuggers"])
        self.assertLessEqual(set(re.findall(r"\$\{command:([\w.]+)\}", texts)), commands)
        debugger = contributes["debuggers"][0]
        for request, known in TAKEN.items():
            self.assertEqual(set(debugger["configurationAttributes"][request]["properties"]), known)
        bodies = [each["body"] for each in debugger["configurationSnippets"]] + debugger["initialConfigurations"]
        for body in bodies:
            self.assertEqual(body["type"], "photofinish")
            self.assertLessEqual(set(body) - {"name", "type", "request"}, TAKEN[body["request"]], body)
        docs = (SOURCE / "docs" / "editors.md").read_text()
        for name in TAKEN["launch"] | TAKEN["attach"]:
            self.assertIn(f"`{name}`", docs)

    def test_the_extension_runs(self):
        """With a stub of VS Code and the real server: trees of races and events, a replay to a race, errors as messages."""
        self.need("node")
        check = self.run_command("node", "--check", EXTENSION / "extension.js")
        self.assertEqual(check.status, 0, check)
        self.record_sum("--mode", "all")
        self.pack().extractall(self.dir / "vsix")
        (self.dir / "launch.json").write_text(json.dumps(
            {"name": "x", "type": "photofinish", "request": "launch", "trace": str(self.dir / "t.pft"), "until": "0:3", "focus": [0]}))
        run = self.run_command("node", SUPPORT / "vscode_stub.js", self.dir / "vsix" / "extension" / "extension.js", self.dir / "launch.json",
                               env={"PHOTOFINISH": str(BIN / "photofinish")}, timeout=120)
        self.assertEqual(run.status, 0, run)
        told = json.loads(run.out)
        contributes = self.package()["contributes"]
        self.assertEqual(set(told["commands"]), {each["command"] for each in contributes["commands"]})
        self.assertEqual(set(told["trees"]), {"photofinish.races", "photofinish.events"})
        self.assertEqual(told["fromF5"]["trace"], str(self.dir / "t.pft"))
        self.assertIn("before event 3", told["firstStop"]["description"])
        # Races: as the command line has them.
        document = self.photofinish("races", "--json", self.dir / "t.pft").json()
        label, description, races = told["races"][0]
        self.assertRegex(label, r"^MPI_Recv at any_source_sum\.c:\d+$")
        self.assertIn(f"{document['classes'][0]['races']} races", description)
        self.assertEqual(len(races), document["classes"][0]["races"])
        self.assertRegex(races[0][2][0][0], r"^took rank \d event \d+: MPI_Send at any_source_sum\.c:\d+$")
        self.assertRegex(races[0][2][1][0], r"^or could rank \d event \d+")
        # Events: of each rank.
        self.assertEqual([row[0] for row in told["events"]], ["rank 0", "rank 1", "rank 2"])
        self.assertRegex(told["events"][0][2][0][0], r"^1: MPI_Init")
        self.assertTrue(any(re.match(r"← rank \d tag 1", event[1]) for event in told["events"][0][2]), told["events"][0])
        self.assertIn(f"before event {told['race']['serial']}", told["atRace"]["description"])
        self.assertEqual(told["documents"], [[told["race"]["file"], told["race"]["line"]]])
        for words in ("No session of Photofinish", "give 'trace'", "Write RANK:SERIAL", "no such event", "nosuch"):
            self.assertTrue(any(words in text for text in told["messages"]), (words, told["messages"]))
        self.assertEqual((told["status"], told["empty"]), (0, []))

    def test_neovim(self):
        self.need("nvim")
        self.record_sum("--mode", "all")
        (self.dir / "races.json").write_text(self.photofinish("races", "--json", self.dir / "t.pft").out)
        site = self.dir / "site" / "lua"
        site.mkdir(parents=True)
        shutil.copy(SHARE / "nvim" / "photofinish.lua", site)
        run = self.run_command("nvim", "--headless", "--clean", "--cmd", f"set runtimepath^={site.parent}", "-c", f"luafile {SUPPORT}/nvim_stub.lua",
                               env={"PF_OUT": str(self.dir / "out.json"), "PF_RACES": str(self.dir / "races.json"), "HOME": str(self.dir)}, timeout=60)
        self.assertTrue((self.dir / "out.json").exists(), run)
        told = json.loads((self.dir / "out.json").read_text())
        self.assertEqual(told["adapter"], {"type": "executable", "command": "/opt/photofinish", "args": ["dap"]})
        self.assertEqual(set(told["configurations"]), {"c", "cpp", "fortran", "python"})
        c = told["configurations"]["c"]
        self.assertEqual([each["name"] for each in c][0], "mine", "what is there stays")
        self.assertEqual(len({each["name"] for each in c}), len(c), "nothing is there twice")
        for each in c[1:]:
            self.assertEqual(each["type"], "photofinish")
            self.assertLessEqual(set(each) - {"name", "type", "request"}, TAKEN[each["request"]], each)
        self.assertEqual(next(each for each in c[1:] if "launcher" in each)["launcher"], ["mpirun", "-n", "3"])
        self.assertEqual(next(each for each in c[1:] if "launcher" in each)["args"], ["a", "b"])
        document = json.loads((self.dir / "races.json").read_text())
        self.assertEqual(len(told["quickfix"]), len(document["races"]))
        file, line, text = told["quickfix"][0]
        first = document["races"][0]["receive"]
        self.assertTrue(file.endswith("any_source_sum.c"), file)
        self.assertEqual(line, first["line"])
        self.assertIn(f"rank {first['rank']} event {first['serial']}", text)
        self.assertEqual(told["ranked"], [3, 2, 1, 4])
        asked = [each for each in told["requests"] if each[0] == "photofinish/replayTo"]
        self.assertEqual([each[1] for each in asked], [{"rank": first["rank"], "serial": first["serial"]}, {"rank": 0, "serial": 17}])
        self.assertEqual([each[1] for each in told["requests"] if each[0] == "evaluate"],
                         [{"expression": "which-message a[3] + 1", "context": "repl", "frameId": 7}])
        for words in ("No session of Photofinish", "refused", "RANK:SERIAL", "by rank 2"):
            self.assertTrue(any(words in text for text in told["said"]), (words, told["said"]))
        # The real server takes the configuration.
        _, client = self.serve()
        client.ask("initialize", adapterID="photofinish")
        launch = {**{key: value for key, value in c[1].items() if key not in ("name", "type", "request")}, "trace": str(self.dir / "t.pft"), "until": "0:3"}
        self.assertTrue(client.answer(client.send("launch", **launch))["success"])

    def test_emacs(self):
        self.need("emacs")
        self.record_sum("--mode", "all")
        shutil.copy(SHARE / "emacs" / "photofinish.el", self.dir)
        run = self.run_command("emacs", "--batch", "-Q", "-l", SUPPORT / "emacs_stub.el",
                               env={"PF_EL": str(self.dir / "photofinish.el"), "PF_OUT": str(self.dir / "out.json"), "HOME": str(self.dir),
                                    "PF_TRACE": str(self.dir / "t.pft"), "PF_PHOTOFINISH": str(BIN / "photofinish")}, timeout=60)
        self.assertEqual(run.status, 0, run)
        told = json.loads((self.dir / "out.json").read_text())
        by_name = {each["name"]: each for each in told["dape"]}
        self.assertEqual(set(by_name), {"mine", "photofinish", "photofinish-record", "photofinish-attach"})
        self.assertEqual((by_name["photofinish"]["args"], by_name["photofinish"]["request"], by_name["photofinish"]["until"]), (["dap"], "launch", "failure"))
        self.assertEqual(by_name["photofinish-attach"]["request"], "attach")
        self.assertIn("photofinish", told["registered"])
        self.assertEqual(told["provided"], [str(BIN / "photofinish"), "dap"])
        self.assertEqual(told["request"], "photofinish/replayTo")
        first = self.photofinish("races", "--json", self.dir / "t.pft").json()["races"][0]["receive"]
        self.assertIn(f"any_source_sum.c:{first['line']}: race 1", told["races"])
        self.assertEqual(told["ranked"], ["race 2 (first): rank 3 event 9, 2 alternatives", "race 1 (other): rank 0 event 1, 0 alternatives"])
        self.assertIn("/nowhere.pft", told["wrong"])


if __name__ == "__main__":
    main()
