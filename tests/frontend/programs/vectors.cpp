#include <cassert>
#include <cstdint>
#include <emmintrin.h>
#include <thread>

using Bytes = int8_t __attribute__((vector_size(16)));
using Ints = int32_t __attribute__((vector_size(16)));
using Longs = uint64_t __attribute__((vector_size(16)));
using Pair = int32_t __attribute__((vector_size(8)));
using Floats = float __attribute__((vector_size(8)));

Ints shared;
Bytes tags = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, -15, 2};
const Ints nines = {9, 9, 9, 9};

Ints replaced(Ints value, int at) {
  value[at] = 7;
  return __builtin_shufflevector(value, nines, 1, 2, 4, 3);
}

int main() {
  volatile int two = 2;
  std::thread other([] { shared = Ints{1, -2, 3, -4}; });
  other.join();
  Ints seen = shared;
  Ints odd = seen * two + 1;
  assert(odd[0] == 3 && odd[1] == -3 && odd[two] == 7 && odd[3] == -7);
  Ints negative = seen < 0 ? seen : -seen;
  assert(negative[0] == -1 && negative[1] == -2 && negative[two] == -3);
  Ints mixed = replaced(seen, two);
  assert(mixed[0] == -2 && mixed[1] == 7 && mixed[2] == 9 && mixed[3] == -4);

  Longs wide = (Longs)seen;
  assert(wide[0] == 0xfffffffe00000001 && wide[1] == 0xfffffffc00000003);
  Bytes small = (Bytes)wide;
  assert(small[0] == 1 && small[4] == -2 && small[7] == -1 && small[8] == 3);
  unsigned __int128 whole = (unsigned __int128)seen;
  assert((uint64_t)whole == wide[0] && (uint64_t)(whole >> 64) == wide[1]);

  __m128i group = _mm_loadu_si128((const __m128i *)&tags);
  assert(_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_set1_epi8(two), group)) == 0x8002);
  assert(_mm_movemask_epi8(group) == 0x4000);

  Floats half = __builtin_convertvector((Pair{1, two}), Floats) / 2;
  assert(half[0] == 0.5f && (-half)[1] == -1.0f);
}
