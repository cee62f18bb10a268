"""What exists in the cloud: the CDK app's stack and its constructs. Imports aws_cdk, nothing of the core."""
