// SPDX-License-Identifier: MIT
#include "plugins/call_sites/call_sites.h"

#include <algorithm>
#include <map>

#include "views/trace/analyses/trace_text.h"
#include "views/values/debug_values.h"
#include "views/values/roles.h"
#include "views/values/text.h"

namespace pf::plugins {

using Qt::Literals::StringLiterals::operator""_s;

std::vector<SiteUse> siteUses(const views::TraceIndex& trace) {
  std::map<std::pair<std::uint32_t, std::uint16_t>, SiteUse> uses;
  for (std::size_t r = 0; r < trace.rankCount(); ++r) {
    const auto rank = static_cast<Rank>(r);
    EventRef ref{rank, 0};
    for (const Event event : trace.execution().ranks[r].events) {
      ++ref.serial;
      SiteUse& use = uses[{event.site, event.call}];
      if (use.calls++ == 0) {
        use.site = event.site;
        use.call = event.call;
        use.first = ref;
      }
      if (use.ranks.empty() || use.ranks.back() != rank) {
        use.ranks.push_back(rank);
      }
      const std::size_t sent = trace.links().sentAt(ref).size();
      use.messages += sent;
      use.bytes += sent > 0 ? event.bytes : 0;
      if (trace.links().isWildcard(ref)) {
        ++use.wildcards;
        const auto races = trace.races().at(ref);
        use.racing +=
            std::any_of(races.begin(), races.end(),
                        [&](std::uint32_t race) { return trace.races().eventOf(race) == ref; })
                ? 1U
                : 0U;
      }
    }
  }
  std::vector<SiteUse> out;
  out.reserve(uses.size());
  for (auto& [key, use] : uses) {
    out.push_back(std::move(use));
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const SiteUse& a, const SiteUse& b) { return a.calls > b.calls; });
  return out;
}

EventRef nextUse(const views::TraceIndex& trace, const SiteUse& use, EventRef event) {
  const auto& ranks = trace.execution().ranks;
  const bool from = trace.contains(event);
  for (std::size_t r = from ? static_cast<std::size_t>(event.rank) : 0; r < ranks.size(); ++r) {
    const bool same = from && r == static_cast<std::size_t>(event.rank);
    views::Sequence<Event>::Page page;
    for (Serial s = same ? event.serial + 1 : 1; s <= ranks[r].events.size(); ++s) {
      const Event each = ranks[r].events.at(s - 1, page);
      if (each.site == use.site && each.call == use.call) {
        return {static_cast<Rank>(r), s};
      }
    }
  }
  return use.first;
}

void SitesModel::setTrace(views::TraceIndexPtr trace, std::vector<SiteUse> uses) {
  beginResetModel();
  m_trace = std::move(trace);
  m_uses = std::move(uses);
  endResetModel();
}

int SitesModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : values::toInt(m_uses.size());
}

int SitesModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : ColumnCount;
}

QVariant SitesModel::value(const SiteUse& use, int column, bool sort) const {
  const auto number = [&](std::uint64_t n) {
    return sort ? QVariant(static_cast<qulonglong>(n)) : n == 0 ? QVariant() : QString::number(n);
  };
  switch (column) {
    case PlaceColumn: {
      const QString text = views::siteText(*m_trace, use.first);
      return text.isEmpty() ? tr("(not known)") : text;
    }
    case FunctionColumn: {
      const CallSite* site = views::siteOf(*m_trace, use.first);
      return site != nullptr ? values::oneLine(values::fromUtf8(site->function)) : QString();
    }
    case CallColumn:
      return views::callName(*m_trace, use.first);
    case CallsColumn:
      return number(use.calls);
    case RanksColumn: {
      QList<int> ranks(use.ranks.begin(), use.ranks.end());
      return sort ? QVariant(static_cast<qulonglong>(use.ranks.size()))
                  : QVariant(values::rankSetText(ranks));
    }
    case MessagesColumn:
      return number(use.messages);
    case BytesColumn:
      return sort || use.messages == 0 ? number(use.bytes) : values::byteText(use.bytes);
    case WildcardsColumn:
      return number(use.wildcards);
    case RacingColumn:
      return number(use.racing);
    default:
      return {};
  }
}

QVariant SitesModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || m_trace == nullptr) {
    return {};
  }
  const SiteUse& use = m_uses[values::at(index.row())];
  switch (role) {
    case Qt::DisplayRole:
      return value(use, index.column(), false);
    case values::SortRole:
      return value(use, index.column(), true);
    case Qt::TextAlignmentRole:
      return index.column() == CallsColumn || index.column() >= MessagesColumn
                 ? QVariant(Qt::AlignRight | Qt::AlignVCenter)
                 : QVariant();
    case Qt::ToolTipRole: {
      const CallSite* site = views::siteOf(*m_trace, use.first);
      return site != nullptr ? values::visibleText(values::fromUtf8(site->file)) : QString();
    }
    case values::ToneRole:
      return static_cast<int>(index.column() == RacingColumn && use.racing > 0
                                  ? values::Tone::Race
                                  : values::Tone::Normal);
    default:
      return {};
  }
}

QVariant SitesModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) {
    return {};
  }
  static const char* const kTitles[] = {
      QT_TR_NOOP("Call site"), QT_TR_NOOP("Function"),  QT_TR_NOOP("Call"),
      QT_TR_NOOP("Calls"),     QT_TR_NOOP("Ranks"),     QT_TR_NOOP("Messages sent"),
      QT_TR_NOOP("Bytes"),     QT_TR_NOOP("Wildcards"), QT_TR_NOOP("Racing")};
  return section >= 0 && section < ColumnCount ? tr(kTitles[section]) : QVariant();
}

}  // namespace pf::plugins

#include "moc_call_sites.cpp"
