import type { PoolClient } from 'pg'
import { driverClient } from './driver-client.ts'

/** What is sent by `send` leaves together: the process of the server is woken once. */
export function inOneWrite<Sent>(client: PoolClient, send: () => Sent): Sent {
  const { stream } = driverClient(client).connection
  stream.cork()
  try {
    return send()
  } finally {
    stream.uncork()
  }
}
