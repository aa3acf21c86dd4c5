// SPDX-License-Identifier: MIT
// The registry: built-in plugins, and what is refused of a directory.
#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include "plugins/api/api.h"

using namespace pf::plugins;

namespace {

class FakePlugin : public ViewPlugin {
 public:
  explicit FakePlugin(const char* id) : m_id(QString::fromLatin1(id)) {}
  [[nodiscard]] QString id() const override { return m_id; }
  [[nodiscard]] QString title() const override { return m_id; }
  [[nodiscard]] ViewWidget* createWidget(QWidget* /*parent*/) override { return nullptr; }

 private:
  QString m_id;
};

}  // namespace

class RegistryTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void idsAreUnique() {
    ViewRegistry registry;
    QVERIFY(registry.add(std::make_unique<FakePlugin>("a")));
    QVERIFY(registry.add(std::make_unique<FakePlugin>("b")));
    QVERIFY(!registry.add(std::make_unique<FakePlugin>("a")));
    QVERIFY(!registry.add(nullptr));
    QCOMPARE(registry.plugins().size(), std::size_t{2});
    QCOMPARE(registry.find(QStringLiteral("b"))->title(), QStringLiteral("b"));
    QVERIFY(registry.find(QStringLiteral("c")) == nullptr);
  }

  void untrustedDirectoriesAreRefused() {
    QTemporaryDir dir;
    ViewRegistry registry;
    QVERIFY(registry.loadFrom(dir.path()).ok());
    QVERIFY(!registry.loadFrom(QStringLiteral("relative/path")).ok());
    QVERIFY(!registry.loadFrom(dir.filePath(QStringLiteral("missing"))).ok());
    QFile::setPermissions(dir.path(), QFile::permissions(dir.path()) | QFileDevice::WriteOther);
    const pf::Status open = registry.loadFrom(dir.path());
    QVERIFY(!open.ok());
    QVERIFY(open.error().message.find("others may write") != std::string::npos);
    QVERIFY(!checkTrustedPath(QStringLiteral("/tmp"))
                 .ok());  // sticky protects what is in it, not new names
  }

  void whatIsNoPluginIsNamed() {
    QTemporaryDir dir;
    QFile file(dir.filePath(QStringLiteral("junk.so")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("not a library");
    file.close();
    ViewRegistry registry;
    QStringList skipped;
    QVERIFY(registry.loadFrom(dir.path(), &skipped).ok());
    QCOMPARE(skipped.size(), 1);
    QVERIFY(skipped.first().contains(QStringLiteral("junk.so")));
    QVERIFY(registry.plugins().empty());
  }

  void sharedObjectIsLoaded() {
    ViewRegistry registry;
    QStringList skipped;
    const QString directory = QStringLiteral(PF_TEST_PLUGIN_DIR);
    QVERIFY(QFile::setPermissions(
        directory, QFileDevice::ReadOwner | QFileDevice::WriteOwner | QFileDevice::ExeOwner));
    if (!checkTrustedPath(directory).ok()) {
      QSKIP("the build directory can be written by others, so no plugin may be loaded from it");
    }
    QVERIFY(registry.loadFrom(directory, &skipped).ok());
    QVERIFY2(skipped.isEmpty(), qPrintable(skipped.join(QLatin1Char('\n'))));
    QVERIFY(registry.find(QStringLiteral("test_plugin")) != nullptr);
    QVERIFY(registry.loadFrom(directory, &skipped).ok());  // once only
    QCOMPARE(registry.plugins().size(), std::size_t{1});
  }
};

QTEST_GUILESS_MAIN(RegistryTest)
#include "registry_test.moc"
