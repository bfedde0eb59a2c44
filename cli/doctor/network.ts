import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Config } from '#server/lib/config/config.ts'
import { reasonOf } from '#server/lib/errors.ts'
import { serverAddress } from '../server-address.ts'
import { type Check, fail, ok, warn } from './check.ts'

const PATIENCE_MS = 5000

/** Connects to the mail server and disconnects. Sends no mail. */
export async function checkMail(config: Config): Promise<Check> {
  if (config.LOAM_SMTP_URL === undefined) {
    return ok('mail', 'LOAM_SMTP_URL is not set: invitation links are in `loam invitation list`')
  }
  const { protocol, hostname, port } = new URL(config.LOAM_SMTP_URL)
  const target = {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || (protocol === 'smtps:' ? 465 : 587)),
  }
  const socket = connect(target)
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(PATIENCE_MS) })
    return ok('mail', `${target.host}:${target.port} accepts connections`)
  } catch (cause) {
    const detail = `${target.host}:${target.port} cannot be reached: ${reasonOf(cause)}`
    return fail('mail', detail, 'check LOAM_SMTP_URL and that the mail server runs')
  } finally {
    socket.destroy()
  }
}

export async function checkServer(config: Config): Promise<Check> {
  const address = serverAddress(config)
  const start = 'start the server with npm start or loam serve'
  if (config.PORT === 0 && address.endsWith(':0'))
    return warn('server', 'PORT is 0, so the address of the server is unknown', 'set PORT')
  try {
    const { status, body } = await ask(`${address}/readyz`)
    if (status === 200 && body.includes('"ready":true')) return ok('server', `ready at ${address}`)
    if (status === 503) return fail('server', `${address} is not ready: ${body}`, 'see its log')
    const detail = `another program answers at ${address} (status ${status})`
    return fail('server', detail, 'stop that program, or set PORT to another port')
  } catch (cause) {
    if (errorCode(cause) === 'ECONNREFUSED') return warn('server', `not running at ${address}`, start)
    return fail('server', `${address} does not answer: ${reasonOf(cause)}`, start)
  }
}

/** Sends a GET request. It does not use `fetch`, which refuses some ports that a server may listen on. */
async function ask(url: string): Promise<{ status: number | undefined; body: string }> {
  const request = get(url, { signal: AbortSignal.timeout(PATIENCE_MS) })
  const [response]: IncomingMessage[] = await once(request, 'response')
  if (response === undefined) throw new Error('no response')
  return { status: response.statusCode, body: await text(response) }
}

function errorCode(cause: unknown): unknown {
  return cause instanceof Error && 'code' in cause ? cause.code : undefined
}
