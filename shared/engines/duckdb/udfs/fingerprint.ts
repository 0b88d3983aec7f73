/** FarmHash Fingerprint64 (https://github.com/google/farmhash, "farmhashna"), which FARM_FINGERPRINT is. */

const k0 = 0xc3a5c85c97cb3127n
const k1 = 0xb492b66fbe98f273n
const k2 = 0x9ae16a3b2f90404fn

const u64 = (value: bigint) => BigInt.asUintN(64, value)
const rotated = (value: bigint, by: bigint) => u64((value >> by) | (value << (64n - by)))
const mixed = (value: bigint) => value ^ (value >> 47n)

function hash16(u: bigint, v: bigint, multiplier: bigint): bigint {
  const a = mixed(u64((u ^ v) * multiplier))
  return u64(mixed(u64((v ^ a) * multiplier)) * multiplier)
}

/** Of the bytes, as a signed integer. */
export function fingerprint64(bytes: Uint8Array): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return BigInt.asIntN(
    64,
    hash(
      bytes,
      at => view.getBigUint64(at, true),
      at => BigInt(view.getUint32(at, true)),
    ),
  )
}

type Fetch = (at: number) => bigint

function hash(bytes: Uint8Array, word: Fetch, half: Fetch): bigint {
  const { length } = bytes
  if (length <= 16) return hashTo16(bytes, word, half)
  if (length <= 32) return hashTo32(length, word)
  if (length <= 64) return hashTo64(length, word)
  return hashLong(length, word)
}

function hashTo16(bytes: Uint8Array, word: Fetch, half: Fetch): bigint {
  const { length } = bytes
  const multiplier = u64(k2 + BigInt(length) * 2n)
  if (length >= 8) {
    const a = u64(word(0) + k2)
    const b = word(length - 8)
    const c = u64(rotated(b, 37n) * multiplier + a)
    const d = u64((rotated(a, 25n) + b) * multiplier)
    return hash16(c, d, multiplier)
  }
  if (length >= 4) return hash16(u64(BigInt(length) + (half(0) << 3n)), half(length - 4), multiplier)
  if (length === 0) return k2
  const y = BigInt(bytes[0]! + (bytes[length >> 1]! << 8))
  const z = BigInt(length + (bytes[length - 1]! << 2))
  return u64(mixed(u64(y * k2) ^ u64(z * k0)) * k2)
}

function hashTo32(length: number, word: Fetch): bigint {
  const multiplier = u64(k2 + BigInt(length) * 2n)
  const a = u64(word(0) * k1)
  const b = word(8)
  const c = u64(word(length - 8) * multiplier)
  const d = u64(word(length - 16) * k2)
  const u = u64(rotated(u64(a + b), 43n) + rotated(c, 30n) + d)
  return hash16(u, u64(a + rotated(u64(b + k2), 18n) + c), multiplier)
}

function hashTo64(length: number, word: Fetch): bigint {
  const multiplier = u64(k2 + BigInt(length) * 2n)
  const a = u64(word(0) * k2)
  const b = word(8)
  const c = u64(word(length - 8) * multiplier)
  const d = u64(word(length - 16) * k2)
  const y = u64(rotated(u64(a + b), 43n) + rotated(c, 30n) + d)
  const z = hash16(y, u64(a + rotated(u64(b + k2), 18n) + c), multiplier)
  const e = u64(word(16) * multiplier)
  const f = word(24)
  const g = u64((y + word(length - 32)) * multiplier)
  const h = u64((z + word(length - 24)) * multiplier)
  const u = u64(rotated(u64(e + f), 43n) + rotated(g, 30n) + h)
  return hash16(u, u64(e + rotated(u64(f + a), 18n) + g), multiplier)
}

type Pair = [bigint, bigint]

function weak(word: Fetch, at: number, first: bigint, second: bigint): Pair {
  const z = word(at + 24)
  let a = u64(first + word(at))
  let b = rotated(u64(second + a + z), 21n)
  const c = a
  a = u64(a + word(at + 8) + word(at + 16))
  b = u64(b + rotated(a, 44n))
  return [u64(a + z), u64(b + c)]
}

/** In blocks of 64 bytes; the last one ends with the text, and so overlaps the one before it. */
function hashLong(length: number, word: Fetch): bigint {
  const seed = 81n
  let y = u64(seed * k1 + 113n)
  let z = u64(mixed(u64(y * k2 + 113n)) * k2)
  let v: Pair = [0n, 0n]
  let w: Pair = [0n, 0n]
  let x = u64(seed * k2 + word(0))
  const end = Math.floor((length - 1) / 64) * 64
  const over = (length - 1) & 63
  const block = (at: number, multiplier: bigint, nine: bigint) => {
    x = u64(rotated(u64(x + y + v[0] + word(at + 8)), 37n) * multiplier)
    y = u64(rotated(u64(y + v[1] + word(at + 48)), 42n) * multiplier)
    x ^= u64(w[1] * nine)
    y = u64(y + v[0] * nine + word(at + 40))
    z = u64(rotated(u64(z + w[0]), 33n) * multiplier)
    v = weak(word, at, u64(v[1] * multiplier), u64(x + w[0]))
    w = weak(word, at + 32, u64(z + w[1]), u64(y + word(at + 16)))
    ;[x, z] = [z, x]
  }
  for (let at = 0; at < end; at += 64) block(at, k1, 1n)
  const multiplier = u64(k1 + ((z & 0xffn) << 1n))
  w = [u64(w[0] + BigInt(over)), w[1]]
  v = [u64(v[0] + w[0]), v[1]]
  w = [u64(w[0] + v[0]), w[1]]
  block(end + over - 63, multiplier, 9n)
  const first = u64(hash16(v[0], w[0], multiplier) + mixed(y) * k0 + z)
  return hash16(first, u64(hash16(v[1], w[1], multiplier) + x), multiplier)
}
