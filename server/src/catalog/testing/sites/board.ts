import { serveHttp } from '#test/doubles/loopback-server.ts'

export type Reply = { status?: number; body: unknown; headers?: Record<string, string> }

/** Serves a board's API, with replies by path. */
export async function serveBoard(replies: Record<string, Reply>) {
  const asked: string[] = []
  const { origin } = await serveHttp((request, response) => {
    asked.push(request.url ?? '')
    const { status = 200, body, headers = {} } = replies[request.url ?? ''] ?? { status: 404, body: {} }
    response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  return { origin, asked }
}
