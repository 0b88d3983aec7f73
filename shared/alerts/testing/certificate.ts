/** A certificate that signs itself, as Node makes none: X.509 (RFC 5280) in DER. */
import { generateKeyPairSync, sign } from 'node:crypto'

const sequence = 0x30
const ecdsaWithSha256 = der(sequence, oid('2a8648ce3d040302'))

/** @param names of hosts @returns PEM texts for a server, of two hours around now */
export function selfSigned(names: string[]): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const commonName = der(sequence, oid('550403'), der(0x0c, Buffer.from('receiver of a test')))
  const name = der(sequence, der(0x31, commonName))
  const hosts = der(sequence, ...names.map(host => der(0x82, Buffer.from(host))))
  const certificate = der(
    sequence,
    der(0xa0, integer(2)),
    integer(1),
    ecdsaWithSha256,
    name,
    der(sequence, time(-3_600_000), time(3_600_000)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(sequence, der(sequence, oid('551d11'), der(0x04, hosts)))),
  )
  const signature = der(0x03, Buffer.of(0), sign('sha256', certificate, privateKey))
  const signed = der(sequence, certificate, ecdsaWithSha256, signature).toString('base64')
  const lines = signed.match(/.{1,64}/g)!.join('\n')
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  }
}

function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts)
  const length = content.length.toString(16)
  const long = Buffer.from(length.padStart(length.length + (length.length % 2), '0'), 'hex')
  const size = content.length < 0x80 ? long : Buffer.concat([Buffer.of(0x80 | long.length), long])
  return Buffer.concat([Buffer.of(tag), size, content])
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'))
}

function integer(value: number): Buffer {
  return der(0x02, Buffer.of(value))
}

function time(fromNowMs: number): Buffer {
  const text = new Date(Date.now() + fromNowMs).toISOString().replaceAll(/[-:T]|\.\d+/g, '')
  return der(0x18, Buffer.from(text))
}
