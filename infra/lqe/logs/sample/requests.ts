/** Inventing requests: what a client asks of one of a project's services, and how that ends. */
import type { Random } from './random.ts'
import { jsonWebToken, type Project, projects, type User } from './world.ts'

export type Service = 'rest' | 'auth' | 'storage' | 'realtime' | 'functions' | 'graphql'

export interface Request {
  /** When the edge answered, in microseconds since 1970. */
  time: number
  service: Service
  project: Project
  user: User
  method: string
  path: string
  /** With its `?`, or empty. */
  search: string
  status: number
  /** What the request is about: a table, a bucket's object, a function's name, what auth was asked to do. */
  subject: string
  /** How long the service took, in milliseconds. */
  duration: number
  /** Bytes of the answer. */
  bytes: number
  /** Names the request in every log that it leaves a trace in. */
  ray: string
}

/** What the service's own code decides; the rest is the same for all. */
type Ask = Pick<Request, 'method' | 'path' | 'search' | 'status' | 'subject'>
type Invent = (project: Project, user: User, random: Random) => Ask

const weights: Record<Service, number> = {
  rest: 45,
  auth: 20,
  storage: 15,
  realtime: 8,
  functions: 9,
  graphql: 3,
}

/** Three of six requests go to the first project, two to the second. */
const traffic = [0, 0, 0, 1, 1, 2].map(at => projects[at]!)

export function inventRequest(time: number, users: User[], random: Random): Request {
  const service = random.weighted(weights)
  const project = random.pick(traffic)
  const user = random.favourite(users)
  return {
    ...services[service](project, user, random),
    time,
    service,
    project,
    user,
    duration: random.longTail(3, 3000),
    bytes: random.longTail(2, 500_000),
    ray: random.hex(8) + random.hex(8),
  }
}

/** Mostly what is hoped for, sometimes one of the others. */
function usually(random: Random, hoped: number, ...others: number[]): number {
  return random.chance(0.93) ? hoped : random.pick(others)
}

function ask(method: string, path: string, status: number, subject: string, search = ''): Ask {
  return { method, path, search, status, subject }
}

const services: Record<Service, Invent> = {
  rest(project, user, random) {
    const table = random.favourite(project.tables)
    const path = `/rest/v1/${table}`
    const method = random.weighted({ GET: 70, POST: 18, PATCH: 8, DELETE: 4 })
    if (method === 'POST') return ask(method, path, usually(random, 201, 400, 403, 409), table)
    const filter = random.pick([
      `id=eq.${random.integer(1, 9999)}`,
      `owner=eq.${user.id}`,
      `email=eq.${encodeURIComponent(user.email)}`,
    ])
    if (method !== 'GET') return ask(method, path, usually(random, 204, 403, 500), table, `?${filter}`)
    const search = `?select=*&${filter}${random.pick(['&order=created_at.desc&limit=20', '&limit=1', ''])}`
    return ask(method, path, usually(random, 200, 206, 304, 400, 401, 404, 406, 500), table, search)
  },

  auth(project, _user, random) {
    const action = random.weighted(authWeights)
    const [method, path, query, hoped] = authCalls[action]
    const link = `?token=${random.hex(8)}${random.hex(8)}&type=signup&redirect_to=${encodeURIComponent(project.site)}`
    const status = usually(random, hoped, 400, 403, 422, 429)
    return ask(method, `/auth/v1${path}`, status, action, action === 'verify' ? link : query)
  },

  storage(project, user, random) {
    const bucket = random.favourite(project.buckets)
    const object = `${bucket}/${random.hex(6)}.${random.pick(['jpg', 'png', 'pdf'])}`
    const folder = '/storage/v1/object'
    switch (random.weighted({ public: 60, sign: 15, upload: 15, list: 10 })) {
      case 'upload':
        return ask('POST', `${folder}/${object}`, usually(random, 200, 400, 403, 413), object)
      case 'list':
        return ask('POST', `${folder}/list/${bucket}`, usually(random, 200, 400), bucket)
      case 'sign': {
        const search = `?token=${jsonWebToken({ url: object, sub: user.id }, random)}`
        return ask('GET', `${folder}/sign/${object}`, usually(random, 200, 400), object, search)
      }
      case 'public':
        return ask('GET', `${folder}/public/${object}`, usually(random, 200, 206, 304, 400, 404), object)
    }
  },

  realtime(_project, user, random) {
    const search = `?apikey=${user.token}&vsn=1.0.0`
    const status = usually(random, 101, 401, 403, 503)
    return ask('GET', '/realtime/v1/websocket', status, `room-${random.integer(1, 40)}`, search)
  },

  functions(project, _user, random) {
    const { name } = random.favourite(project.functions)
    return ask('POST', `/functions/v1/${name}`, usually(random, 200, 401, 500, 504), name)
  },

  graphql(_project, _user, random) {
    return ask('POST', '/graphql/v1', usually(random, 200, 400), 'graphql')
  },
}

const authWeights = { refresh: 40, user: 25, login: 18, signup: 5, verify: 5, logout: 4, recover: 3 }

/** Method, path, query, and the status that is hoped for. */
const authCalls: Record<keyof typeof authWeights, [string, string, string, number]> = {
  refresh: ['POST', '/token', '?grant_type=refresh_token', 200],
  user: ['GET', '/user', '', 200],
  login: ['POST', '/token', '?grant_type=password', 200],
  signup: ['POST', '/signup', '', 200],
  verify: ['GET', '/verify', '', 303],
  logout: ['POST', '/logout', '?scope=global', 204],
  recover: ['POST', '/recover', '', 200],
}
