/** The requests of the sample logs: their times, their calls of a project's services, and how they end. */
import type { Random } from './random.ts'
import { jsonWebToken, type Project, projects, type User } from './world.ts'

export type Service = keyof typeof weights

export type Request = ReturnType<typeof inventRequest>

const weights = { rest: 45, auth: 20, storage: 15, realtime: 8, functions: 9, graphql: 3 }

/** Three of six requests go to the first project, two to the second. */
const traffic = [0, 0, 0, 1, 1, 2].map(at => projects[at]!)

/** @param time when the edge answers, in microseconds since 1970 */
export function inventRequest(time: number, users: User[], random: Random) {
  const service = random.weighted(weights)
  const project = random.pick(traffic)
  const user = random.favourite(users)
  const call = services[service](project, user, random)
  return {
    ...call,
    url: `https://${project.host}${call.path}${call.search}`,
    time,
    service,
    project,
    user,
    /** Of the service, in milliseconds. */
    duration: random.longTail(3, 3000),
    /** Of the answer. */
    bytes: random.longTail(2, 500_000),
    /** Names the request in every log. */
    ray: random.hex(16),
  }
}

/** Mostly the first status, sometimes one of the others. */
function usually(random: Random, expected: number, ...others: number[]): number {
  return random.chance(0.93) ? expected : random.pick(others)
}

/**
 * @param subject a table, a bucket's object, a function's name or an action of auth
 * @param search with its `?`, or empty
 */
function call(method: string, path: string, status: number, subject: string, search = '') {
  return { method, path, search, status, subject }
}

type Call = ReturnType<typeof call>

const services: Record<Service, (project: Project, user: User, random: Random) => Call> = {
  rest(project, user, random) {
    const table = random.favourite(project.tables)
    const path = `/rest/v1/${table}`
    const method = random.weighted({ GET: 70, POST: 18, PATCH: 8, DELETE: 4 })
    if (method === 'POST') return call(method, path, usually(random, 201, 400, 403, 409), table)
    const filter = random.pick([
      `id=eq.${random.integer(1, 9999)}`,
      `owner=eq.${user.id}`,
      `email=eq.${encodeURIComponent(user.email)}`,
    ])
    if (method !== 'GET') return call(method, path, usually(random, 204, 403, 500), table, `?${filter}`)
    const search = `?select=*&${filter}${random.pick(['&order=created_at.desc&limit=20', '&limit=1', ''])}`
    return call(method, path, usually(random, 200, 206, 304, 400, 401, 404, 406, 500), table, search)
  },

  auth(project, _user, random) {
    const action = random.weighted(authWeights)
    const [method, path, query, expected] = authCalls[action]
    const link = `?token=${random.hex(16)}&type=signup&redirect_to=${encodeURIComponent(project.site)}`
    const status = usually(random, expected, 400, 403, 422, 429)
    return call(method, `/auth/v1${path}`, status, action, action === 'verify' ? link : query)
  },

  storage(project, user, random) {
    const bucket = random.favourite(project.buckets)
    const object = `${bucket}/${random.hex(6)}.${random.pick(['jpg', 'png', 'pdf'])}`
    const action = random.weighted({ public: 60, sign: 15, upload: 15, list: 10 })
    const [method, folder, ...statuses] = storageCalls[action]
    const subject = action === 'list' ? bucket : object
    const token = action === 'sign' ? `?token=${jsonWebToken({ url: object, sub: user.id }, random)}` : ''
    const path = `/storage/v1/object${folder}/${subject}`
    return call(method, path, usually(random, ...statuses), subject, token)
  },

  realtime(_project, user, random) {
    const search = `?apikey=${user.token}&vsn=1.0.0`
    const status = usually(random, 101, 401, 403, 503)
    return call('GET', '/realtime/v1/websocket', status, `room-${random.integer(1, 40)}`, search)
  },

  functions(project, _user, random) {
    const { name } = random.favourite(project.functions)
    return call('POST', `/functions/v1/${name}`, usually(random, 200, 401, 500, 504), name)
  },

  graphql(_project, _user, random) {
    return call('POST', '/graphql/v1', usually(random, 200, 400), 'graphql')
  },
}

const authWeights = { refresh: 40, user: 25, login: 18, signup: 5, verify: 5, logout: 4, recover: 3 }

/** Method, path, query, and the usual status. */
const authCalls: Record<keyof typeof authWeights, [string, string, string, number]> = {
  refresh: ['POST', '/token', '?grant_type=refresh_token', 200],
  user: ['GET', '/user', '', 200],
  login: ['POST', '/token', '?grant_type=password', 200],
  signup: ['POST', '/signup', '', 200],
  verify: ['GET', '/verify', '', 303],
  logout: ['POST', '/logout', '?scope=global', 204],
  recover: ['POST', '/recover', '', 200],
}

/** Method, folder, and the statuses, the usual one first. */
const storageCalls: Record<'public' | 'sign' | 'upload' | 'list', [string, string, number, ...number[]]> = {
  public: ['GET', '/public', 200, 206, 304, 400, 404],
  sign: ['GET', '/sign', 200, 400],
  upload: ['POST', '', 200, 400, 403, 413],
  list: ['POST', '/list', 200, 400],
}

const hour = 3_600_000_000
const hours = 8 * 24
/** The last hour's part of all requests, so that a chart by minutes has something to show. */
const lastHourShare = 0.06

/**
 * The times of `count` requests over the last eight days, in order: more by day (UTC) than by night, most of all
 * within the last hour.
 * @param now the last moment, in microseconds since 1970
 * @returns microseconds since 1970
 */
export function* schedule(count: number, now: number, random: Random): Generator<number> {
  const start = now - hours * hour
  const upTo = sharesUpTo(start)
  let at = 0
  for (let index = 0; index < count; index++) {
    // One random moment in each of `count` equal parts of the whole: in order without sorting.
    const share = (index + random.next()) / count
    while (share >= upTo[at]! && at < hours - 1) at++
    const before = at === 0 ? 0 : upTo[at - 1]!
    const within = (share - before) / (upTo[at]! - before)
    yield Math.floor(start + (at + Math.min(within, 1 - 1e-9)) * hour)
  }
}

/** For each hour, the part of all requests that come by its end. */
function sharesUpTo(start: number): number[] {
  const weights = Array.from({ length: hours - 1 }, (_, at) => weightAt(start + (at + 0.5) * hour))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const shares = weights.map(weight => (weight / total) * (1 - lastHourShare))
  let sum = 0
  return [...shares, lastHourShare].map(share => (sum += share))
}

/** Three times as many at 14:00 as at 2:00, and fewer at the weekend. */
function weightAt(micros: number): number {
  const time = new Date(micros / 1000)
  const daily = 1 + 0.5 * Math.cos(((time.getUTCHours() - 14) / 24) * 2 * Math.PI)
  return [0, 6].includes(time.getUTCDay()) ? daily * 0.6 : daily
}
