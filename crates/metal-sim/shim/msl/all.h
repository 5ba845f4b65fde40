// The whole library: what <metal_stdlib> and every other public name stand for.
#pragma once
#pragma clang system_header
#include "array.h"
#include "atomic.h"
#include "barrier.h"
#include "geometric.h"
#include "integer.h"
#include "limits.h"
#include "math.h"
#include "matrix.h"
#include "pack.h"
#include "quadgroup.h"
#include "relational.h"
#include "rewritten.h"
#include "simdgroup.h"
#include "simdgroup_matrix.h"
#include "constructors.h"
