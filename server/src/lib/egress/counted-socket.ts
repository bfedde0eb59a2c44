import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { tooLarge } from './body.ts'
import type { Holding } from './held-bytes.ts'

/**
 * The maximum number of bytes that a connection other than HTTP may send. They are held until they are read.
 */
export const MAX_SOCKET_BYTES = 16_000_000

/**
 * A connection that counts its incoming bytes before anybody reads them, also the bytes below TLS: if a bare
 * socket is wrapped in TLS, Node reads it without reporting it. Above the limit the connection ends with an
 * error that names the limit.
 */
export class CountedSocket extends Duplex {
  readonly #socket: Socket
  readonly #holding: Holding
  #left = MAX_SOCKET_BYTES

  constructor(socket: Socket, open: (call: { fail(fault: Error): void }) => Holding) {
    super()
    this.#socket = socket
    this.#holding = open({ fail: (fault) => this.destroy(fault) })
    // The user of the socket adds a listener too. Without any listener a reset would end the process.
    this.on('error', () => undefined)
    socket.pause()
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
    socket.on('end', () => this.push(null))
    socket.on('error', (cause) => this.destroy(cause))
    socket.on('close', () => this.destroy())
  }

  #take(chunk: Buffer): void {
    if (this.destroyed) return
    this.#left -= chunk.length
    this.#holding.add(chunk.length)
    if (this.#left < 0) this.destroy(tooLarge(MAX_SOCKET_BYTES))
    else if (!this.destroyed && !this.push(chunk)) this.#socket.pause()
  }

  override _read(): void {
    this.#socket.resume()
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, done: (cause?: Error | null) => void): void {
    this.#socket.write(chunk, encoding, done)
  }

  override _final(done: () => void): void {
    this.#socket.end(done)
  }

  override _destroy(cause: Error | null, done: (cause?: Error | null) => void): void {
    this.#holding.release()
    this.#socket.destroy()
    done(cause)
  }

  // Database drivers set these options of a socket.
  setNoDelay(isOn = true): this {
    this.#socket.setNoDelay(isOn)
    return this
  }

  setKeepAlive(isOn = false, afterMs = 0): this {
    this.#socket.setKeepAlive(isOn, afterMs)
    return this
  }

  setTimeout(ms: number, onTimeout?: () => void): this {
    if (onTimeout !== undefined) this.once('timeout', onTimeout)
    this.#socket.removeAllListeners('timeout').setTimeout(ms, () => this.emit('timeout'))
    return this
  }

  ref(): this {
    this.#socket.ref()
    return this
  }

  unref(): this {
    this.#socket.unref()
    return this
  }
}
