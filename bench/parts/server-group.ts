import { type ServerProcess, startServer } from '#test/plumbing/server-process.ts'

/**
 * Creates a group of servers: Loam and its peers, each in its own process. Their logs are discarded at no
 * cost to the others.
 */
export function createServerGroup() {
  const servers: ServerProcess[] = []
  return {
    async start(env: Record<string, string>, program = 'server/src/main.ts', ...args: string[]) {
      const script = 'exec "$@" 2>/dev/null'
      const server = await startServer(env, [
        '/bin/sh',
        '-c',
        script,
        'sh',
        process.execPath,
        program,
        ...args,
      ])
      if (server.url === '') throw new Error(`${program} did not start`)
      servers.push(server)
      return server
    },
    /** Stops the servers, the last one first: peers use the database of the first. */
    async stop() {
      for (const server of servers.toReversed()) await server.stop()
    },
  }
}
