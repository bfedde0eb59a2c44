import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openNameServer } from '#test/doubles/name-answers.ts'
import { createSearchIndex } from './search-index.ts'
import { buildWorld, COLLECTOR_HOST, SEARCH_HOST, type World } from './world.ts'

export type ServedWorld = World & {
  searchUrl: string
  /** The address of the name server that knows the hosts of the world. */
  nameServer: string
  /** The addresses that were requested, as `host/path`. */
  served: Set<string>
  /** Returns how often the server to which hostile pages send their readers was called. */
  collected: () => number
  close: () => Promise<void>
}

/**
 * Starts one HTTP server for all hosts of the world, including its search engine, and a name server that
 * resolves all hosts to it.
 */
export async function serveWorld(options: { seed: number; ofEach: number }): Promise<ServedWorld> {
  const served = new Set<string>()
  let collected = 0
  const server = createServer((request, response) => {
    const host = (request.headers.host ?? '').replace(/:\d+$/, '')
    const address = `${host}${request.url ?? ''}`
    if (host === COLLECTOR_HOST) collected += 1
    if (host === SEARCH_HOST) {
      const query = new URL(request.url ?? '', 'http://search.example').searchParams.get('q') ?? ''
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ query, results: find(query) }))
      return
    }
    const page = world.pages.get(address)
    if (page === undefined) {
      response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not found</h1>')
      return
    }
    served.add(address)
    response.writeHead(200, { 'content-type': page.type }).end(page.body)
  })
  const port = await listen(server)
  const world = buildWorld({ ...options, port })
  const find = createSearchIndex(world.pages, (address) => {
    const slash = address.indexOf('/')
    return `http://${address.slice(0, slash)}:${port}${address.slice(slash)}`
  })
  const names = await openNameServer(
    Object.fromEntries(world.hosts.map((host) => [host, { a: ['127.0.0.1'] }])),
  )
  return {
    ...world,
    searchUrl: `http://${SEARCH_HOST}:${port}`,
    nameServer: names.server,
    served,
    collected: () => collected,
    close: async () => {
      names.close()
      await closeServer(server)
    },
  }
}

export async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve)
  })
  return (server.address() as AddressInfo).port
}

export async function closeServer(server: Server): Promise<void> {
  server.closeAllConnections()
  await new Promise((resolve) => {
    server.close(resolve)
  })
}
