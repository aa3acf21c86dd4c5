// SPDX-License-Identifier: MIT
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QPluginLoader>

#include "plugins/api/api.h"

namespace pf::plugins {

namespace {

Error untrusted(const std::string& path, const std::string& why) {
  return Error{ErrorCode::Usage, "plugins are not loaded from " + path + ": " + why,
               "Use a directory that only you can write, for example: chmod go-w DIRECTORY"};
}

Status checkOne(const QString& path) {
  struct stat info {};
  const std::string shown = path.toStdString();
  if (::lstat(QFile::encodeName(path).constData(), &info) != 0) {
    return errno == ENOENT ? Error{ErrorCode::NotFound, shown + " does not exist", ""}
                           : systemError("could not examine " + shown, errno);
  }
  if (info.st_uid != 0 && info.st_uid != ::geteuid()) {
    return untrusted(shown, "it belongs to another user");
  }
  const bool others = (info.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  const bool sticky = S_ISDIR(info.st_mode) && (info.st_mode & S_ISVTX) != 0;
  if (others && !sticky && !S_ISLNK(info.st_mode)) {
    return untrusted(shown, "others may write it");
  }
  return {};
}

}  // namespace

Status checkTrustedPath(const QString& path) {
  if (!QDir::isAbsolutePath(path)) {
    return untrusted(path.toStdString(), "the path is not absolute");
  }
  const QString real = QFileInfo(path).canonicalFilePath();  // no symbolic link is left in it
  if (real.isEmpty()) {
    return Error{ErrorCode::NotFound, path.toStdString() + " does not exist", ""};
  }
  struct stat info {};
  if (::lstat(QFile::encodeName(real).constData(), &info) == 0 &&
      (info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return untrusted(real.toStdString(),
                     "others may write it");  // sticky does not help the directory itself
  }
  for (QString part = real;; part = QFileInfo(part).path()) {
    if (Status status = checkOne(part); !status) {
      return status;
    }
    if (part == QStringLiteral("/")) {
      return {};
    }
  }
}

ViewRegistry::ViewRegistry() = default;

ViewRegistry::~ViewRegistry() =
    default;  // QPluginLoader does not unload: code of live widgets stays

bool ViewRegistry::add(std::unique_ptr<ViewPlugin> plugin) {
  if (!plugin || find(plugin->id()) != nullptr) {
    return false;
  }
  m_all.push_back(plugin.get());
  m_own.push_back(std::move(plugin));
  return true;
}

Status ViewRegistry::loadOne(const QString& path) {
  if (Status trusted = checkTrustedPath(path); !trusted) {
    return trusted;
  }
  auto loader = std::make_unique<QPluginLoader>(path);
  const QString iid = loader->metaData().value(QStringLiteral("IID")).toString();
  if (iid != QStringLiteral(PF_VIEW_PLUGIN_IID)) {  // before any of its code runs
    return Error{ErrorCode::Version,
                 path.toStdString() + " is no Photofinish view plugin of this version", ""};
  }
  auto* plugin = qobject_cast<ViewPlugin*>(loader->instance());
  if (plugin == nullptr) {
    return Error{
        ErrorCode::System,
        "could not load " + path.toStdString() + ": " + loader->errorString().toStdString(), ""};
  }
  if (find(plugin->id()) != nullptr) {
    return Error{
        ErrorCode::Usage,
        path.toStdString() + " has the id of another plugin: " + plugin->id().toStdString(), ""};
  }
  m_all.push_back(plugin);
  m_loaders.push_back(std::move(loader));
  return {};
}

Status ViewRegistry::loadFrom(const QString& directory, QStringList* skipped) {
  if (Status trusted = checkTrustedPath(directory); !trusted) {
    return trusted;
  }
  const QDir dir(directory);
  for (const QString& name : dir.entryList({QStringLiteral("*.so")}, QDir::Files, QDir::Name)) {
    if (const Status status = loadOne(dir.absoluteFilePath(name)); !status && skipped != nullptr) {
      skipped->append(QString::fromStdString(status.error().text()));
    }
  }
  return {};
}

std::vector<ViewPlugin*> ViewRegistry::plugins() const {
  return m_all;
}

ViewPlugin* ViewRegistry::find(const QString& id) const {
  for (ViewPlugin* plugin : m_all) {
    if (plugin->id() == id) {
      return plugin;
    }
  }
  return nullptr;
}

}  // namespace pf::plugins
