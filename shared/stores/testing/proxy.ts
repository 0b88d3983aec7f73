/** For tests: faults of a connection between a client and a server. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface Proxy {
  /** host:port */
  address: string
  /** Open connections accept data and pass nothing on, without an error; new ones work. */
  losePackets(passing: 'requests' | 'nothing'): void
  /** As a stopped server: all connections, also new ones, accept data, which is passed on once it goes on. */
  standStill(): void
  goOn(): void
  /** Open connections break; new ones work. */
  breakConnections(): void
  /** New connections are refused too. */
  refuse(): Promise<void>
  restore(): Promise<void>
}

interface Connection {
  client: Socket
  server: Socket
  passing: 'all' | 'requests' | 'nothing'
}

/** @param target host:port of the server */
export async function startProxy(target: string): Promise<Proxy> {
  const connections = new Set<Connection>()
  let still = false
  const [host, port] = target.split(':')
  const proxy = createServer(client => {
    const connection: Connection = { client, server: connect(Number(port), host), passing: 'all' }
    connections.add(connection)
    pass(connection, () => connections.delete(connection))
    if (still) socketsOf(connection).forEach(socket => socket.pause())
  })
  const listen = async (onPort: number) => {
    proxy.listen(onPort, '127.0.0.1')
    await once(proxy, 'listening')
    return (proxy.address() as AddressInfo).port
  }
  const breakConnections = () => {
    for (const { client } of connections) client.destroy()
  }
  const ownPort = await listen(0)
  proxy.unref() // a test that fails may leave it behind
  return {
    address: `127.0.0.1:${ownPort}`,
    losePackets(passing) {
      for (const connection of connections) connection.passing = passing
    },
    standStill() {
      still = true
      for (const socket of [...connections].flatMap(socketsOf)) socket.pause()
    },
    goOn() {
      still = false
      for (const socket of [...connections].flatMap(socketsOf)) socket.resume()
    },
    breakConnections,
    async refuse() {
      if (!proxy.listening) return // a test has failed before it restored it
      const closed = once(proxy, 'close')
      proxy.close()
      breakConnections()
      await closed
    },
    async restore() {
      await listen(ownPort)
    },
  }
}

const socketsOf = ({ client, server }: Connection): Socket[] => [client, server]

function pass(connection: Connection, onEnd: () => void): void {
  const { client, server } = connection
  client.on('data', data => connection.passing !== 'nothing' && server.write(data))
  server.on('data', data => connection.passing === 'all' && client.write(data))
  for (const [socket, other] of [
    [client, server],
    [server, client],
  ] as const) {
    socket.on('error', () => {}) // 'close' comes after it
    socket.on('close', () => {
      other.destroy()
      onEnd()
    })
  }
}
