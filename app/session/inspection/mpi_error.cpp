// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/inspection/mpi_error.h"

#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include <QRegularExpression>

#include "mi_bridge/gdb_session.h"

namespace pf::session {
namespace {

/// Where and how an MPI library says which call has failed, when GDB has stopped the rank there.
struct ErrorPlace {
  const char* call;  ///< expression of its name
  const char* code;
  int classBits;  ///< of the code
  std::array<const char*, 20> classes;
};

/// ompi_errhandler_invoke(handler, object, type, code, call).
constexpr ErrorPlace kOpenMpiErrors{
    "(char*)$r8", "(int)$ecx", -1, {"MPI_SUCCESS",       "MPI_ERR_BUFFER",  "MPI_ERR_COUNT",
                                    "MPI_ERR_TYPE",      "MPI_ERR_TAG",     "MPI_ERR_COMM",
                                    "MPI_ERR_RANK",      "MPI_ERR_REQUEST", "MPI_ERR_ROOT",
                                    "MPI_ERR_GROUP",     "MPI_ERR_OP",      "MPI_ERR_TOPOLOGY",
                                    "MPI_ERR_DIMS",      "MPI_ERR_ARG",     "MPI_ERR_UNKNOWN",
                                    "MPI_ERR_TRUNCATE",  "MPI_ERR_OTHER",   "MPI_ERR_INTERN",
                                    "MPI_ERR_IN_STATUS", "MPI_ERR_PENDING"}};

/// MPIR_Err_return_comm(communicator, call, code): "internal_Recv", and a code with its class in
/// the lowest bits.
constexpr ErrorPlace kMpichErrors{
    "(char*)$rsi", "(int)$edx", 0x7f, {"MPI_SUCCESS",     "MPI_ERR_BUFFER",   "MPI_ERR_COUNT",
                                       "MPI_ERR_TYPE",    "MPI_ERR_TAG",      "MPI_ERR_COMM",
                                       "MPI_ERR_RANK",    "MPI_ERR_ROOT",     "MPI_ERR_GROUP",
                                       "MPI_ERR_OP",      "MPI_ERR_TOPOLOGY", "MPI_ERR_DIMS",
                                       "MPI_ERR_ARG",     "MPI_ERR_UNKNOWN",  "MPI_ERR_TRUNCATE",
                                       "MPI_ERR_OTHER",   "MPI_ERR_INTERN",   "MPI_ERR_IN_STATUS",
                                       "MPI_ERR_PENDING", "MPI_ERR_REQUEST"}};

QString mpiErrorName(const ErrorPlace& place, int code) {
  const auto number = static_cast<std::size_t>(code & place.classBits);
  return code >= 0 && number < place.classes.size() ? QString::fromLatin1(place.classes[number])
                                                    : QStringLiteral("MPI error %1").arg(code);
}

/// As the program calls it.
QString mpiCallName(QString name) {
  static const QRegularExpression kInside(QStringLiteral("^(internal_|P?MPI_)"));
  return name.replace(kInside, QStringLiteral("MPI_"));
}

}  // namespace

void askMpiError(mi::Fleet& fleet, int rank, std::function<void(const QString&)> answered) {
  mi::GdbSession* gdb = fleet.session(rank);
  if (gdb == nullptr) {
    return;
  }
  const mi::FrameRef frame{gdb->stop().thread, 0};
  const bool mpich = gdb->stop().frame.function.rfind("MPIR_", 0) == 0;
  const ErrorPlace& place = mpich ? kMpichErrors : kOpenMpiErrors;
  gdb->inspect().evaluate(
      frame, place.call,
      [&fleet, rank, frame, &place,
       answered = std::move(answered)](const Result<std::string>& call) {
        mi::GdbSession* here = fleet.session(rank);
        if (!call || here == nullptr) {
          return;
        }
        const QString name =
            mpiCallName(QString::fromStdString(*call).section(QLatin1Char('"'), 1, 1));
        here->inspect().evaluate(
            frame, place.code, [name, &place, answered](const Result<std::string>& code) {
              if (code) {
                answered(QStringLiteral("%1: %2").arg(
                    name, mpiErrorName(place, QString::fromStdString(*code).toInt())));
              }
            });
      });
}

}  // namespace pf::session
