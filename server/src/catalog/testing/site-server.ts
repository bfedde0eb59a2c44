import { serveHttp } from '#test/doubles/loopback-server.ts'

/** The reply of a path: HTML as text, or all parts. `ORIGIN` in a text stands for the address of the site. */
export type SitePage =
  | string
  | {
      status?: number
      type?: string
      headers?: Record<string, string | string[]>
      body?: string | Uint8Array
    }
export type Site = Record<string, SitePage>

export type ServedSite = { origin: string; port: number; requests: string[] }

/** Serves a website over real HTTP on loopback. Missing paths are 404, robots.txt included. */
export async function serveSite(site: Site): Promise<ServedSite> {
  const requests: string[] = []
  const server = await serveHttp((request, response) => {
    requests.push(request.url ?? '')
    const page = site[request.url ?? ''] ?? { status: 404, body: '<h1>Not found</h1>' }
    const {
      status = 200,
      type = 'text/html; charset=utf-8',
      headers = {},
      body = '',
    } = typeof page === 'string' ? { body: page } : page
    const filled = (text: string) => text.replaceAll('ORIGIN', server.origin)
    const sent = Object.entries(headers).map(([name, value]): [string, string | string[]] => [
      name,
      typeof value === 'string' ? filled(value) : value,
    ])
    response.writeHead(status, {
      ...(type === '' ? {} : { 'content-type': type }),
      ...Object.fromEntries(sent),
    })
    response.end(typeof body === 'string' ? filled(body) : body)
  })
  return { origin: server.origin, port: server.port, requests }
}

/** Encodes text in an old encoding, by the meaning of its one and two byte sequences. */
export function encodeAs(charset: string, text: string): Buffer {
  const decoder = new TextDecoder(charset)
  const bytesOf = new Map<string, number[]>()
  const read = (...bytes: number[]) => {
    const character = decoder.decode(Uint8Array.from(bytes))
    if (Array.from(character).length === 1 && character !== '\uFFFD') bytesOf.set(character, bytes)
  }
  // The shortest sequence is kept, because single bytes are read last.
  for (let first = 0x80; first <= 0xff; first += 1) {
    for (let second = 0x40; second <= 0xff; second += 1) read(first, second)
  }
  for (let byte = 0; byte <= 0xff; byte += 1) read(byte)
  return Buffer.from(Array.from(text).flatMap((character) => bytesOf.get(character) ?? [0x3f]))
}
