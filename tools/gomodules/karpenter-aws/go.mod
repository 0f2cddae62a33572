// Nothing is built from this: Karpenter's CRDs for AWS lie in its provider's module.
module tools

go 1.26.5

require github.com/aws/karpenter-provider-aws v1.14.1
