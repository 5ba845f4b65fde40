// Type traits (specification 5.1), and the shape of a type: its element and how many.
#pragma once
#pragma clang system_header
#include "config.h"

namespace metal {
template <class T, T V>
struct integral_constant {
  static constexpr T value = V;
  typedef T value_type;
  typedef integral_constant type;
  constexpr operator T() const { return V; }
  constexpr T operator()() const { return V; }
};
template <bool B>
using bool_constant = integral_constant<bool, B>;
typedef bool_constant<true> true_type;
typedef bool_constant<false> false_type;

template <class T>
struct type_identity {
  typedef T type;
};
template <class T>
using type_identity_t = typename type_identity<T>::type;

template <bool B, class T = void>
struct enable_if {};
template <class T>
struct enable_if<true, T> {
  typedef T type;
};
template <bool B, class T = void>
using enable_if_t = typename enable_if<B, T>::type;

template <bool B, class T, class F>
struct conditional {
  typedef T type;
};
template <class T, class F>
struct conditional<false, T, F> {
  typedef F type;
};
template <bool B, class T, class F>
using conditional_t = typename conditional<B, T, F>::type;

template <class...>
using void_t = void;
template <class T>
T&& declval() noexcept;

#define MSIM_PREDICATE(name, ...)                \
  template <class T>                             \
  struct name : bool_constant<(__VA_ARGS__)> {}; \
  template <class T>                             \
  constexpr bool name##_v = name<T>::value;
#define MSIM_RELATION(name, ...)                 \
  template <class T, class U>                    \
  struct name : bool_constant<(__VA_ARGS__)> {}; \
  template <class T, class U>                    \
  constexpr bool name##_v = name<T, U>::value;
#define MSIM_TRANSFORM(name, ...) \
  template <class T>              \
  struct name {                   \
    typedef __VA_ARGS__ type;     \
  };                              \
  template <class T>              \
  using name##_t = typename name<T>::type;

MSIM_TRANSFORM(remove_const, __remove_const(T))
MSIM_TRANSFORM(remove_volatile, __remove_volatile(T))
MSIM_TRANSFORM(remove_cv, __remove_cv(T))
MSIM_TRANSFORM(remove_reference, __remove_reference_t(T))
MSIM_TRANSFORM(remove_pointer, __remove_pointer(T))
MSIM_TRANSFORM(remove_extent, __remove_extent(T))
MSIM_TRANSFORM(remove_all_extents, __remove_all_extents(T))
MSIM_TRANSFORM(add_const, const T)
MSIM_TRANSFORM(add_volatile, volatile T)
MSIM_TRANSFORM(add_cv, const volatile T)
MSIM_TRANSFORM(decay, __decay(T))
MSIM_TRANSFORM(make_signed, __make_signed(T))
MSIM_TRANSFORM(make_unsigned, __make_unsigned(T))
MSIM_TRANSFORM(underlying_type, __underlying_type(T))

MSIM_RELATION(is_same, __is_same(T, U))
MSIM_RELATION(is_convertible, __is_convertible(T, U))
MSIM_RELATION(is_base_of, __is_base_of(T, U))
MSIM_RELATION(is_assignable, __is_assignable(T, U))

MSIM_PREDICATE(is_void, __is_void(T))
MSIM_PREDICATE(is_null_pointer, __is_same(remove_cv_t<T>, decltype(nullptr)))
MSIM_PREDICATE(is_integral, __is_integral(T))
MSIM_PREDICATE(is_floating_point, __is_floating_point(T))
MSIM_PREDICATE(is_arithmetic, __is_arithmetic(T))
MSIM_PREDICATE(is_scalar, __is_scalar(T))
MSIM_PREDICATE(is_array, __is_array(T))
MSIM_PREDICATE(is_pointer, __is_pointer(T))
MSIM_PREDICATE(is_reference, __is_reference(T))
MSIM_PREDICATE(is_lvalue_reference, __is_lvalue_reference(T))
MSIM_PREDICATE(is_rvalue_reference, __is_rvalue_reference(T))
MSIM_PREDICATE(is_enum, __is_enum(T))
MSIM_PREDICATE(is_union, __is_union(T))
MSIM_PREDICATE(is_class, __is_class(T))
MSIM_PREDICATE(is_function, __is_function(T))
MSIM_PREDICATE(is_object, __is_object(T))
MSIM_PREDICATE(is_compound, __is_compound(T))
MSIM_PREDICATE(is_fundamental, __is_fundamental(T))
MSIM_PREDICATE(is_const, __is_const(T))
MSIM_PREDICATE(is_volatile, __is_volatile(T))
MSIM_PREDICATE(is_signed, __is_signed(T) || (__is_floating_point(T) && T(-1) < T(0)))
MSIM_PREDICATE(is_unsigned, __is_unsigned(T))
MSIM_PREDICATE(is_trivial, __is_trivial(T))
MSIM_PREDICATE(is_trivially_copyable, __is_trivially_copyable(T))
MSIM_PREDICATE(is_standard_layout, __is_standard_layout(T))
MSIM_PREDICATE(is_pod, __is_pod(T))
MSIM_PREDICATE(is_empty, __is_empty(T))
MSIM_PREDICATE(is_polymorphic, __is_polymorphic(T))
MSIM_PREDICATE(is_default_constructible, __is_constructible(T))

template <class T, class... A>
struct is_constructible : bool_constant<__is_constructible(T, A...)> {};
template <class T, class... A>
constexpr bool is_constructible_v = is_constructible<T, A...>::value;

template <class T>
struct add_pointer {
  typedef remove_reference_t<T>* type;
};
template <class T>
using add_pointer_t = typename add_pointer<T>::type;
template <class T>
struct add_lvalue_reference {
  typedef T& type;
};
template <class T>
using add_lvalue_reference_t = typename add_lvalue_reference<T>::type;

template <class... B>
struct conjunction : bool_constant<(B::value && ...)> {};
template <class... B>
struct disjunction : bool_constant<(B::value || ...)> {};
template <class B>
struct negation : bool_constant<!B::value> {};
template <class... B>
constexpr bool conjunction_v = conjunction<B...>::value;
template <class... B>
constexpr bool disjunction_v = disjunction<B...>::value;
template <class B>
constexpr bool negation_v = negation<B>::value;

template <class T>
struct rank : integral_constant<size_t, __array_rank(T)> {};
template <class T, unsigned N = 0>
struct extent : integral_constant<size_t, __array_extent(T, N)> {};
template <class T>
struct alignment_of : integral_constant<size_t, alignof(T)> {};

template <class T>
constexpr remove_reference_t<T>&& move(T&& value) {
  return static_cast<remove_reference_t<T>&&>(value);
}
template <class T>
constexpr T&& forward(remove_reference_t<T>& value) {
  return static_cast<T&&>(value);
}
}  // namespace metal
