import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { verdict, verification } from '../../questions/verification.ts'
import { findymail } from './provider.ts'

const Reply = z.object({ verified: z.boolean() })

export const findymailVerification = defineAdapter(verification, findymail, {
  price: 0.5,
  run: (ask, { email }) =>
    ask({ method: 'POST', path: '/api/verify', json: { email } }, Reply, ({ verified }) =>
      verdict(verified ? 'valid' : 'invalid'),
    ),
})
