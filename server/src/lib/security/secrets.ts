import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { AppError } from '../errors.ts'

/**
 * Seals secrets at rest with AES-256-GCM, bound to the organisation and the record that they belong to: a
 * value that was copied into another row cannot be opened. The stored form `v1.<key id>.<nonce + tag + text>`
 * names its key, so that LOAM_SECRET can be rotated: `new,old` seals with the first key and opens with
 * either.
 */
export type Sealer = {
  seal(plain: string, binding: Binding): string
  open(sealed: string, binding: Binding): string
  /** The ids of the keys that can open values. The first is the key that seals. */
  keyIds: readonly string[]
  /** Derives keys for another purpose, such as signing links: one from each secret, the current one first. */
  derive(purpose: string): readonly [Buffer, ...Buffer[]]
}

export type Binding = { orgId: string; record: string }

export class UnsealError extends Error {
  override name = 'UnsealError'
}

export function createSealer(secret: string): Sealer {
  const secrets = secret.split(',').map((part) => part.trim())
  const keys = secrets.map((part) => {
    const key = derive(part, 'loam secrets v1')
    return { id: derive(part, 'loam key id').subarray(0, 4).toString('hex'), key }
  })
  const current = keys[0]
  const [first, ...older] = secrets
  // An empty part would be a key that anybody can derive.
  if (current === undefined || first === undefined || secrets.includes('')) {
    throw new Error('LOAM_SECRET, or a part of it between commas, is empty')
  }

  return {
    seal(plain, binding) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', current.key, nonce).setAAD(aad(binding))
      const text = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return `v1.${current.id}.${Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64url')}`
    },
    open(sealed, binding) {
      const [version, id, body, ...rest] = sealed.split('.')
      const key = keys.find((candidate) => candidate.id === id)
      if (version !== 'v1' || body === undefined || rest.length > 0)
        throw new UnsealError('not a sealed value')
      if (key === undefined) {
        throw new UnsealError('sealed with another LOAM_SECRET: add the old secret after a comma to open it')
      }
      const bytes = Buffer.from(body, 'base64url')
      // Decoding ignores characters outside of base64url and the spare bits of the last character. This check
      // allows one spelling per value.
      if (bytes.length < 28 || bytes.toString('base64url') !== body)
        throw new UnsealError('not a sealed value')
      const decipher = createDecipheriv('aes-256-gcm', key.key, bytes.subarray(0, 12))
      decipher.setAAD(aad(binding)).setAuthTag(bytes.subarray(12, 28))
      try {
        return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8')
      } catch (cause) {
        throw new UnsealError('the sealed value was altered or belongs to another record', { cause })
      }
    },
    keyIds: keys.map(({ id }) => id),
    derive: (purpose) => [derive(first, purpose), ...older.map((part) => derive(part, purpose))],
  }
}

/** Returns the id of the key that a value was sealed with. */
export const readKeyId = (sealed: string): string => sealed.split('.')[1] ?? ''

/** Returns the error for a value that cannot be opened, with an alternative for callers and operators. */
export function unreadable(what: string, otherwise: string): AppError {
  return new AppError('SECRET_UNREADABLE', unreadableWords(what, otherwise))
}

export function unreadableWords(what: string, otherwise: string): string {
  return `${what} cannot be decrypted: it was encrypted with a secret that is not in LOAM_SECRET. Add the old secret after a comma (LOAM_SECRET=new,old), or ${otherwise}`
}

/** Opens a sealed value. Returns null if it cannot be opened. */
export function tryOpen(sealer: Sealer, sealed: string, binding: Binding): string | null {
  try {
    return sealer.open(sealed, binding)
  } catch (cause) {
    if (cause instanceof UnsealError) return null
    throw cause
  }
}

function derive(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, 'loam', purpose, 32))
}

function aad(binding: Binding): Buffer {
  return Buffer.from(JSON.stringify([binding.orgId, binding.record]))
}
