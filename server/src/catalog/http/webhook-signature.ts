import { createHmac } from 'node:crypto'

/**
 * Returns the headers of a signed delivery, as Standard Webhooks defines them. Without a secret there is no signature.
 */
export function signDelivery(
  delivery: { id: string; body: string; at: Date },
  secret: string | undefined,
): Record<string, string> {
  const timestamp = String(Math.floor(delivery.at.getTime() / 1000))
  const headers = { 'webhook-id': delivery.id, 'webhook-timestamp': timestamp }
  if (secret === undefined) return headers
  const signature = createHmac('sha256', keyOf(secret))
    .update(`${delivery.id}.${timestamp}.${delivery.body}`)
    .digest('base64')
  return { ...headers, 'webhook-signature': `v1,${signature}` }
}

/** Returns the key of a secret: the base64 after `whsec_`, or the whole secret if it has no such prefix. */
function keyOf(secret: string): Buffer {
  return secret.startsWith('whsec_')
    ? Buffer.from(secret.slice('whsec_'.length), 'base64')
    : Buffer.from(secret)
}
