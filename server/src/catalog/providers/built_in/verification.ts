import { defineAdapter } from '../../adapter.ts'
import { verdict, verification } from '../../jobs/verification.ts'
import { verifyAddress } from '../../mail-check/verify-address.ts'
import { builtIn } from './provider.ts'

export const builtInVerification = defineAdapter(verification, builtIn, {
  price: 0.1,
  async run(_ask, { email }, { context }) {
    const { status, reason, mx } = await verifyAddress(email, context)
    return verdict(status, reason, mx)
  },
})
