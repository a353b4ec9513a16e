# frozen_string_literal: true

require "openssl"

# An authority, and what it says of a server on the loopback interface and of a client, as PEM.
module Certificates
  HOUR = 3600

  module_function

  # @param folder [String] gets ca.pem, server.pem, server.key, client.pem and client.key
  def write(folder)
    authority, key = issue("authority", nil, nil, "basicConstraints" => "critical,CA:TRUE",
                                                  "keyUsage" => "critical,keyCertSign")
    File.write(File.join(folder, "ca.pem"), authority.to_pem)
    names = { "subjectAltName" => "DNS:localhost,IP:127.0.0.1" }
    { "server" => names, "client" => { "extendedKeyUsage" => "clientAuth" } }.each do |name, says|
      certificate, own_key = issue(name, authority, key, says)
      File.write(File.join(folder, "#{name}.pem"), certificate.to_pem)
      File.write(File.join(folder, "#{name}.key"), own_key.private_to_pem)
    end
  end

  def issue(name, authority, key, extensions)
    own_key = OpenSSL::PKey::RSA.new(2048)
    certificate = OpenSSL::X509::Certificate.new
    certificate.version = 2
    certificate.serial = rand(1..(2**60))
    certificate.subject = OpenSSL::X509::Name.new([["CN", name]])
    certificate.issuer = (authority || certificate).subject
    certificate.not_before = Time.now - HOUR
    certificate.not_after = Time.now + HOUR
    certificate.public_key = own_key
    factory = OpenSSL::X509::ExtensionFactory.new
    extensions.each do |kind, text|
      certificate.add_extension(factory.create_ext_from_string("#{kind}=#{text}"))
    end
    certificate.sign(key || own_key, OpenSSL::Digest.new("SHA256"))
    [certificate, own_key]
  end
end
