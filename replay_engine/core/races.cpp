#include "core/races.h"
