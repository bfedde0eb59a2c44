/** Copies a text to the clipboard. Without https, where browsers offer no clipboard API, it uses a copy event. */
export async function copyText(text: string): Promise<void> {
  if (isSecureContext) return navigator.clipboard.writeText(text)
  const onCopy = (event: ClipboardEvent) => {
    event.clipboardData?.setData('text/plain', text)
    event.preventDefault()
  }
  document.addEventListener('copy', onCopy, { once: true })
  const isCopied = document.execCommand('copy')
  document.removeEventListener('copy', onCopy)
  if (!isCopied) throw new Error('The browser did not allow copying to the clipboard')
}
