import { useState } from 'react'
import type { Call } from '../api/calls.ts'
import { buildCurl } from '../api/curl.ts'
import { Button, type ButtonProps } from './button.tsx'
import { copyText } from './copy-text.ts'
import { Check, Copy } from './icons.tsx'
import { notifyProblem } from './toasts.tsx'

type Props = Omit<ButtonProps, 'onClick' | 'children'> & { label: string; text: () => string }

export function CopyButton({ label, text, ...rest }: Props) {
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    try {
      await copyText(text())
      setCopied(true)
      setTimeout(() => setCopied(false), 1500)
    } catch (error) {
      notifyProblem(error)
    }
  }
  return (
    <Button {...rest} icon={copied ? Check : Copy} onClick={() => void copy()}>
      {label}
    </Button>
  )
}

/** A button that copies the same request to the public API as a curl command, with the key as a variable. */
export function CopyAsCurl({
  call,
  label = 'Copy as curl',
  ...rest
}: { call: Call<unknown>; label?: string } & Omit<ButtonProps, 'onClick' | 'children'>) {
  return <CopyButton {...rest} label={label} text={() => buildCurl(call)} />
}
