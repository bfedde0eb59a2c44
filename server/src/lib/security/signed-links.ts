import { createHmac, timingSafeEqual } from 'node:crypto'

/** The file that a link opens and the time at which the link expires. */
export type SignedLink = { orgId: string; fileId: string; expiresAt: Date }

export type LinkSigner = {
  sign(link: SignedLink): string
  /**
   * Reads a token. Returns null if it was not signed here or has been changed. Does not check the expiry
   * time.
   */
  read(token: string): SignedLink | null
}

const PAYLOAD_BYTES = 40
const MAC_BYTES = 32
/** 72 bytes are exactly 96 characters, so no character has spare bits that could be changed unnoticed. */
const TOKEN = /^[\w-]{96}$/

/**
 * Creates signed links that carry their own permission: two ids and a time under an HMAC, in one path
 * segment. The first key signs and any key can verify, so a link outlives the rotation of the secret that
 * signed it.
 */
export function createLinkSigner(keys: readonly [Buffer, ...Buffer[]]): LinkSigner {
  const macOf = (payload: Buffer, key: Buffer) => createHmac('sha256', key).update(payload).digest()
  return {
    sign({ orgId, fileId, expiresAt }) {
      const payload = Buffer.alloc(PAYLOAD_BYTES)
      bytesOf(orgId).copy(payload, 0)
      bytesOf(fileId).copy(payload, 16)
      payload.writeBigUInt64BE(BigInt(expiresAt.getTime()), 32)
      return Buffer.concat([payload, macOf(payload, keys[0])]).toString('base64url')
    },
    read(token) {
      if (!TOKEN.test(token)) return null
      const bytes = Buffer.from(token, 'base64url')
      const payload = bytes.subarray(0, PAYLOAD_BYTES)
      const mac = bytes.subarray(PAYLOAD_BYTES)
      if (mac.length !== MAC_BYTES || !keys.some((key) => timingSafeEqual(mac, macOf(payload, key))))
        return null
      return {
        orgId: uuidOf(payload.subarray(0, 16)),
        fileId: uuidOf(payload.subarray(16, 32)),
        expiresAt: new Date(Number(payload.readBigUInt64BE(32))),
      }
    },
  }
}

function bytesOf(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex')
}

function uuidOf(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
