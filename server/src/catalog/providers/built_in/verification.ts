import { verifyAddress } from '../../built-in/mail/verify-address.ts'
import { defineAdapter } from '../../provider/adapter.ts'
import { verdict, verification } from '../../questions/verification.ts'
import { builtIn } from './provider.ts'

export const builtInVerification = defineAdapter(verification, builtIn, {
  price: 0.1,
  async run(_ask, { email }, { context }) {
    const { status, reason, mx } = await verifyAddress(email, context)
    return verdict(status, reason, mx)
  },
})
