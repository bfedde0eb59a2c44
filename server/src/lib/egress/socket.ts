import { connect as openSocket, type Socket } from 'node:net'
import { admit, type Guard } from './connector.ts'
import { EgressFault, toConnectFault } from './failures.ts'

export type ConnectRequest = { host: string; port: number; timeoutMs?: number; signal?: AbortSignal }

const TIMEOUT_MS = 10_000
const MAX_ADDRESSES = 3

/**
 * Opens a bare TCP connection to an address that was checked. The name is not resolved again after the check.
 */
export async function openGuarded(request: ConnectRequest, guard: Guard): Promise<Socket> {
  const { host, port } = request
  const signals = [guard.closing, AbortSignal.timeout(request.timeoutMs ?? TIMEOUT_MS)]
  const signal = AbortSignal.any(request.signal === undefined ? signals : [...signals, request.signal])
  try {
    const addresses = await untilAborted(admit({ host, port }, guard), signal)
    return await openFirst(addresses.slice(0, MAX_ADDRESSES), port, signal)
  } catch (error) {
    const fault = signal.aborted ? describeAbort(signal, guard.closing, request.signal) : error
    if (!(fault instanceof EgressFault)) throw fault
    throw new EgressFault(fault.kind, `${host} port ${port}: ${fault.message}`, fault.retryable)
  }
}

async function openFirst(addresses: string[], port: number, signal: AbortSignal): Promise<Socket> {
  const [address = '', ...others] = addresses
  try {
    return await openOne(address, port, signal)
  } catch (error) {
    if (others.length === 0 || signal.aborted) throw error
    return openFirst(others, port, signal)
  }
}

function openOne(host: string, port: number, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = openSocket({ host, port })
    const fail = (error: Error) => {
      socket.destroy()
      reject(error)
    }
    const onAbort = () => fail(signal.reason as Error)
    if (signal.aborted) return onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    const settle = () => signal.removeEventListener('abort', onAbort)
    socket.once('error', (error) => {
      settle()
      fail(toConnectFault(error))
    })
    socket.once('connect', () => {
      settle()
      socket.removeAllListeners('error')
      // The user of the socket adds a listener too. Without any listener a reset would end the process.
      socket.on('error', () => undefined)
      resolve(socket)
    })
  })
}

function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason as Error)
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}

function describeAbort(
  signal: AbortSignal,
  closing: AbortSignal,
  outer: AbortSignal | undefined,
): EgressFault {
  if (closing.aborted || outer?.aborted === true) return new EgressFault('aborted', 'the call was cancelled.')
  const late = signal.reason instanceof Error && signal.reason.name === 'TimeoutError'
  return new EgressFault(late ? 'timeout' : 'aborted', 'no connection within the time limit.')
}
