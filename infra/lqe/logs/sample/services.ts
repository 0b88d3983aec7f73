import { edgeMessage, edgeTable } from '../combined.ts'
import type { Json } from '../entries.ts'
import { invented, type Invented } from './entries.ts'
import type { Random } from './random.ts'
import type { Request } from './requests.ts'

/** The entry that every request leaves at the edge. */
export function edgeEntry(request: Request, random: Random): Invented {
  const { project, user, method, path, search, status, ray } = request
  const url = `https://${project.host}${path}${search}`
  const { ip, agent } = user.client
  return invented(edgeTable, request.time, random, {
    message: edgeMessage(method, status, ip, ray, url, agent),
    project: project.ref,
    metadata: {
      logflare_worker: { worker_id: random.hex(6).toUpperCase() },
      request: {
        method,
        path,
        search,
        url,
        host: project.host,
        protocol: 'https:',
        cf: network(request, random),
        headers: requestHeaders(request),
        sb: credentials(request),
      },
      response: {
        status_code: status,
        origin_time: request.duration,
        headers: responseHeaders(request, random),
      },
    },
  })
}

function network({ user, service }: Request, random: Random): Json {
  const { asn, organization, ja3, place } = user.client
  const score = random.integer(1, 99)
  return {
    ...place,
    asn,
    asOrganization: organization,
    clientTrustScore: score,
    httpProtocol: service === 'realtime' ? 'HTTP/1.1' : 'HTTP/2',
    tlsVersion: 'TLSv1.3',
    botManagement: { corporateProxy: false, ja3Hash: ja3, score, staticResource: false, verifiedBot: false },
  }
}

function requestHeaders({ project, user, method, ray, service }: Request): Json {
  const { ip, agent, library, place } = user.client
  return {
    accept: service === 'storage' ? 'image/*' : 'application/json',
    user_agent: agent,
    cf_connecting_ip: ip,
    x_real_ip: ip,
    cf_ipcountry: place.country,
    cf_ray: ray,
    host: project.host,
    referer: `${project.site}/`,
    x_client_info: library,
    x_forwarded_proto: 'https',
    content_length: method === 'GET' ? null : '182',
  }
}

function responseHeaders({ service, status, bytes, ray, user, time }: Request, random: Random): Json {
  return {
    cf_ray: `${ray}-${user.client.place.colo}`,
    date: new Date(time / 1000).toUTCString(),
    content_length: String(bytes),
    sb_gateway_version: '1',
    content_type: service === 'storage' ? 'image/jpeg' : 'application/json; charset=utf-8',
    cf_cache_status: service === 'storage' ? random.pick(['HIT', 'HIT', 'MISS']) : 'DYNAMIC',
    x_sb_error_code: errorCodes[status] ?? null,
  }
}

const errorCodes: Partial<Record<number, string>> = { 401: 'UNAUTHORIZED', 429: 'OVER_REQUEST_RATE_LIMIT' }

/** What the gateway learnt from the caller's keys. */
export function credentials({ project, user, time }: Request): Json {
  const key = { algorithm: 'HS256', issuer: `https://${project.host}/auth/v1` }
  const signature_prefix = user.token.slice(-43, -37)
  const expires_at = Math.floor(time / 1_000_000) + 3600
  return {
    auth_user: user.id,
    jwt: {
      apikey: { payload: { ...key, role: 'anon', signature_prefix, expires_at } },
      authorization: {
        payload: {
          ...key,
          role: 'authenticated',
          signature_prefix,
          expires_at,
          subject: user.id,
          session_id: user.session,
        },
      },
    },
  }
}
