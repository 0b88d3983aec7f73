/** FarmHash Fingerprint64 (https://github.com/google/farmhash, "farmhashna"), which FARM_FINGERPRINT is. */

const k0 = 0xc3a5c85c97cb3127n
const k1 = 0xb492b66fbe98f273n
const k2 = 0x9ae16a3b2f90404fn

// Sums and products are cut to 64 bits where their upper bits would count: before a rotation, a shift and an exclusive or.
const u64 = (value: bigint) => BigInt.asUintN(64, value)
const rotated = (value: bigint, by: bigint) => (u64(value) >> by) | u64(value << (64n - by))
const mixed = (value: bigint) => u64(value) ^ (u64(value) >> 47n)

function hash16(u: bigint, v: bigint, multiplier: bigint): bigint {
  const a = mixed((u64(u) ^ u64(v)) * multiplier)
  return mixed((u64(v) ^ a) * multiplier) * multiplier
}

/** Of the bytes, as a signed integer. */
export function fingerprint64(bytes: Uint8Array): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const word = (at: number) => view.getBigUint64(at, true)
  if (bytes.length > 64) return BigInt.asIntN(64, hashLong(bytes.length, word))
  return BigInt.asIntN(64, bytes.length > 16 ? hashTo64(bytes.length, word) : hashTo16(view, word))
}

type Word = (at: number) => bigint

function hashTo16(view: DataView, word: Word): bigint {
  const length = view.byteLength
  const multiplier = k2 + BigInt(length) * 2n
  if (length >= 8) {
    const [a, b] = [word(0) + k2, word(length - 8)]
    return hash16(rotated(b, 37n) * multiplier + a, (rotated(a, 25n) + b) * multiplier, multiplier)
  }
  const half = (at: number) => BigInt(view.getUint32(at, true))
  if (length >= 4) return hash16(BigInt(length) + (half(0) << 3n), half(length - 4), multiplier)
  if (length === 0) return k2
  const y = BigInt(view.getUint8(0) + (view.getUint8(length >> 1) << 8))
  const z = BigInt(length + (view.getUint8(length - 1) << 2))
  return mixed(u64(y * k2) ^ u64(z * k0)) * k2
}

function hashTo64(length: number, word: Word): bigint {
  const multiplier = k2 + BigInt(length) * 2n
  const four = (a: bigint, b: bigint, c: bigint, d: bigint, added: bigint): Pair => [
    rotated(a + b, 43n) + rotated(c, 30n) + d,
    a + rotated(b + added, 18n) + c,
  ]
  const first = u64(word(0) * (length > 32 ? k2 : k1))
  const [y, v] = four(first, word(8), word(length - 8) * multiplier, word(length - 16) * k2, k2)
  const z = hash16(y, v, multiplier)
  if (length <= 32) return z
  const [g, h] = [(y + word(length - 32)) * multiplier, (z + word(length - 24)) * multiplier]
  return hash16(...four(word(16) * multiplier, word(24), g, h, first), multiplier)
}

type Pair = [bigint, bigint]

function weak(word: Word, at: number, first: bigint, second: bigint): Pair {
  const z = word(at + 24)
  const c = first + word(at)
  const a = c + word(at + 8) + word(at + 16)
  return [u64(a + z), u64(rotated(second + c + z, 21n) + rotated(a, 44n) + c)]
}

/** In blocks of 64 bytes; the last one ends with the text, and so overlaps the one before it. */
function hashLong(length: number, word: Word): bigint {
  const seed = 81n
  let y = u64(seed * k1 + 113n)
  let z = u64(mixed(y * k2 + 113n) * k2)
  let v: Pair = [0n, 0n]
  let w: Pair = [0n, 0n]
  let x = u64(seed * k2 + word(0))
  const block = (at: number, multiplier: bigint, nine: bigint) => {
    x = u64(rotated(x + y + v[0] + word(at + 8), 37n) * multiplier) ^ u64(w[1] * nine)
    y = u64(rotated(y + v[1] + word(at + 48), 42n) * multiplier + v[0] * nine + word(at + 40))
    z = u64(rotated(z + w[0], 33n) * multiplier)
    v = weak(word, at, v[1] * multiplier, x + w[0])
    w = weak(word, at + 32, z + w[1], y + word(at + 16))
    ;[x, z] = [z, x]
  }
  for (let at = 0; at < length - 64; at += 64) block(at, k1, 1n)
  const multiplier = k1 + ((z & 0xffn) << 1n)
  w = [u64(w[0] + BigInt((length - 1) & 63)), w[1]]
  v = [u64(v[0] + w[0]), v[1]]
  w = [u64(w[0] + v[0]), w[1]]
  block(length - 64, multiplier, 9n)
  const first = hash16(v[0], w[0], multiplier) + mixed(y) * k0 + z
  return hash16(first, hash16(v[1], w[1], multiplier) + x, multiplier)
}
