/** An identity provider on this machine: its keys over HTTP, and tokens of any content. */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'

type Pair = Awaited<ReturnType<typeof generateKeyPair>>

export interface TestIssuer {
  /** Of `JWT_ISSUERS`, but for its pins and endpoints. */
  settings: { name: string; issuer: string; jwks: string; audience: string }
  /** What its address answers; it may be changed. */
  keys: JWK[]
  /** In place of the keys. */
  respond: RequestListener | null
  /** How often the address was asked. */
  fetches: number
  /** A token for an hour, with these claims over the usual ones; `undefined` leaves one out. */
  token(claims?: object, header?: object): Promise<string>
  /** Another key, published or not. @returns it */
  rotate(alg?: string, kid?: string): Promise<Pair>
  stop(): Promise<void>
}

export async function startIssuer(name: string, alg = 'ES256'): Promise<TestIssuer> {
  const server = createServer((req, res) => {
    made.fetches++
    if (made.respond) return made.respond(req, res)
    res.setHeader('Content-Type', 'application/json')
    res.end(JSON.stringify({ keys: made.keys }))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  let signer: { pair: Pair; alg: string; kid: string }
  const made: TestIssuer = {
    settings: { name, issuer, jwks: `${issuer}/keys`, audience: 'logs' },
    keys: [],
    respond: null,
    fetches: 0,
    async rotate(alg = 'ES256', kid = 'one') {
      const pair = await generateKeyPair(alg, { extractable: true })
      signer = { pair, alg, kid }
      made.keys = [{ ...(await exportJWK(pair.publicKey)), kid, alg, use: 'sig' }]
      return pair
    },
    token(claims = {}, header = {}) {
      const now = Math.floor(Date.now() / 1000)
      const usual = { iss: issuer, aud: 'logs', sub: 'someone', iat: now, exp: now + 3_600 }
      const { pair, alg, kid } = signer
      return new SignJWT({ ...usual, ...claims })
        .setProtectedHeader({ alg, kid, typ: 'JWT', ...header })
        .sign(pair.privateKey)
    },
    async stop() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
  await made.rotate(alg)
  return made
}
