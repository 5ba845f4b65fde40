// All names of the library.
#pragma once
#include "../msl/all.h"
